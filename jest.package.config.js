/** Of the package as users install it: slow, and by the network. `npm run test:package`. */
const {
  globalSetup: _1,
  globalTeardown: _2,
  testPathIgnorePatterns: _3,
  ...base
} = require('./jest.config.js');

module.exports = { ...base, roots: ['<rootDir>/tests/package'], maxWorkers: 1 };
