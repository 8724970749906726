// The files that take longest go first, so that none of them runs alone at the end. Jest remembers their times only on
// a machine that has run them; the table is of a quiet one. `npm test` prints the times of its run.
const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');
const SECONDS = require('../../slowest-files.json');

module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const seconds = ({ path, context }) => SECONDS[relative(context.config.rootDir, path)] ?? 0;
    return super.sort(tests).toSorted((a, b) => seconds(b) - seconds(a));
  }
};
