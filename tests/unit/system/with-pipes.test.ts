// A process that starts programs without having file descriptors left.
import { execFileSync } from 'node:child_process';
import { compiledEntry } from '../../../system/package-root';

const PROGRAM = `
  const { spawn } = require('node:child_process');
  const { closeSync, openSync } = require('node:fs');
  const { withPipes } = require(process.argv[1]);
  const open = [];
  try {
    for (;;) open.push(openSync('/dev/null'));
  } catch {}
  let told = 'nothing';
  try {
    withPipes(spawn('true'));
  } catch (err) {
    told = err.code;
  }
  setTimeout(() => {
    open.forEach(closeSync);
    withPipes(spawn('true')).on('close', (code) => console.log(told, code));
  }, 50);
`;

test('a program for whose pipes there are no file descriptors is refused, and does not end the process that starts it', () => {
  const node = [process.execPath, '-e', PROGRAM, compiledEntry('system/processes/with-pipes.js')];
  const said = execFileSync('sh', ['-c', 'ulimit -n 60; exec "$@"', 'sh', ...node], { encoding: 'utf8' });
  expect(said).toBe('resources_exhausted 0\n');
});
