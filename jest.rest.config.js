/** What `npm test` leaves out: `npm run test:rest`. */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { restFiles } = require('./tests/helpers/run/test-files');
const { testMatch: _1, ...base } = require('./jest.config.js');

/** `.ci/run` names a file with those of `npm test` that lacked a program then. */
const { HOLDFAST_TEST_AGAIN: listed } = process.env;
const again = listed ? readFileSync(listed, 'utf8').split('\n').filter(Boolean) : [];

module.exports = {
  ...base,
  testMatch: [...restFiles(__dirname), ...again.map((name) => join(__dirname, name))],
};
