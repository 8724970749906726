/** One server and one build for the whole run; see tests/helpers/global-setup.ts. */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  // See jest.package.config.js.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/tests/package/'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  globalSetup: '<rootDir>/tests/helpers/global-setup.ts',
  globalTeardown: '<rootDir>/tests/helpers/global-teardown.ts',
  reporters: ['default', '<rootDir>/tests/helpers/skipped-reporter.js'],
  maxWorkers: 2,
  testTimeout: 60_000,
};
