// The memory of the bash parser: alone, in a separate process.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const TREE = join(__dirname, '../../../dist/checks/bash/syntax-tree.js');
/** It was 530 MB, and 20 MB are what parser, grammar and trees need. */
const MOST_MB = 150;

/** Parses for two seconds of processor time: the optimizing compiler, were it used, runs beside it and ends before. */
const PARSE = `
  const { readFileSync } = require('node:fs');
  const { loadBash, parseBash } = require(${JSON.stringify(TREE)});
  const peak = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))[1]) / 1024;
  const before = peak();
  loadBash().then(() => {
    while (process.cpuUsage().user < 2e6) parseBash('for a in *; do echo "$a" | wc -c; done', () => false);
    console.log(peak() - before);
  });
`;

test('a worker that checks bash needs no more memory than a small container has', () => {
  const grown = Number(execFileSync(process.execPath, ['-e', PARSE], { encoding: 'utf8' }));
  expect(grown).toBeGreaterThan(0);
  expect(grown).toBeLessThan(MOST_MB);
});
