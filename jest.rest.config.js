/** What `npm test` leaves out: `npm run test:rest`. */
const { restFiles } = require('./tests/helpers/run/test-files');
const { testMatch: _1, ...base } = require('./jest.config.js');

module.exports = { ...base, testMatch: restFiles(__dirname) };
