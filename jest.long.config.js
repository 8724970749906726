/** The tests with counts, with those that users meet: `npm run test:long`. Takes long; see tests/helpers/run/long-run.ts. */
const { longRunFiles } = require('./tests/helpers/run/test-files');

process.env.HOLDFAST_TEST_LONG = '1';
const { testMatch: _1, ...base } = require('./jest.config.js');

module.exports = { ...base, testMatch: longRunFiles(__dirname) };
