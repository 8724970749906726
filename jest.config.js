const { availableParallelism } = require('node:os');
const { join } = require('node:path');

// Holders and workers that tests start load faster from V8's cache, as those of the command line do.
process.env.NODE_COMPILE_CACHE ??= join(__dirname, 'node_modules', '.cache', 'compiled');
// The servers of tests live briefly: they may use more memory before they look for what is free. A tenth less work.
process.env.GOGC ??= '400';

/** All tests, in parts: see tests/helpers/run/test-files.js. One server and one build for a run: see global-setup.ts. */
module.exports = {
  testEnvironment: '<rootDir>/tests/helpers/run/patient-environment.js',
  // How many times as long as on an idle machine a test may take, and whatever it waits for.
  globals: { PATIENCE: 3 },
  roots: ['<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  // See jest.package.config.js.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/tests/package/'],
  transform: {
    // The last four come as ES modules only, which Node can require and Jest cannot.
    '^.+\\.ts$|/node_modules/(jose|marked|oauth4webapi|openid-client)/.+\\.js$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!(jose|marked|oauth4webapi|openid-client)/)'],
  runtime: '<rootDir>/tests/helpers/run/compiled-once-runtime.js',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  globalSetup: '<rootDir>/tests/helpers/run/global-setup.ts',
  globalTeardown: '<rootDir>/tests/helpers/run/global-teardown.ts',
  reporters: ['default', ['<rootDir>/tests/helpers/run/last-lines-reporter.js', {}]],
  testSequencer: '<rootDir>/tests/helpers/run/sequencer.js',
  // More than cores: most files wait for terminals and servers part of their time. With three more both cores of a small
  // machine are at work 98 % of the time.
  maxWorkers: availableParallelism() + 3,
  testTimeout: 60_000,
};
