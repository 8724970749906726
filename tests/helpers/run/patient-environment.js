// Node's environment of Jest, with more patience: a time limit only ends a test that hangs. Each is written for a machine
// that is not busy, and one with two cores that runs the whole suite takes several times as long. And without what a file
// needs (programs.ts), none of it runs.
const { TestEnvironment } = require('jest-environment-node');

module.exports = class PatientEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.patience = config.projectConfig.globals.PATIENCE;
  }

  handleTestEvent({ name }, state) {
    if (name !== 'run_start') return;
    state.testTimeout *= this.patience;
    this.extend(state.rootDescribeBlock);
    if (this.global.notChecked) this.skip(state.rootDescribeBlock);
  }

  extend({ hooks, children }) {
    for (const one of [...hooks, ...children]) {
      if (one.type === 'describeBlock') this.extend(one);
      else if (one.timeout !== undefined) one.timeout *= this.patience;
    }
  }

  /** Hooks run for tests only. */
  skip({ children }) {
    for (const one of children) {
      if (one.type === 'describeBlock') this.skip(one);
      else if (one.mode !== 'skip') {
        one.mode = 'skip';
        one.name += ` (not checked: ${this.global.notChecked})`;
      }
    }
  }
};
