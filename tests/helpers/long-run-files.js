// The test files that have larger counts in `npm run test:long`: those that use long-run.ts.
const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

exports.longRunFiles = (rootDir) => {
  const folder = join(rootDir, 'tests');
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .filter((file) => /helpers\/long-run'/.test(readFileSync(file, 'utf8')));
};
