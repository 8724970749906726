/** What counts most, in less than eight minutes on two cores: `npm test`. */
const { coreFiles } = require('./tests/helpers/run/test-files');
const { testMatch: _1, reporters, ...base } = require('./jest.config.js');

const left = [
  'the files of `npm run test:rest`: more ways to each guarantee, and what people and programs use',
];
const [usual, [lastLines]] = reporters;

module.exports = {
  ...base,
  testMatch: coreFiles(__dirname),
  reporters: [usual, [lastLines, { left }]],
};
