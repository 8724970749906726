#!/usr/bin/env node
// Ends up on a Node that loses no terminal bytes: this one if it is new enough, else the one that `npm ci`
// brought along. Plain old JavaScript, because any Node may read it.
'use strict';
const MIN_NODE = 24;

if (Number(process.versions.node.split('.')[0]) >= MIN_NODE) {
  require('../dist/engine/compile-cache.js');
  require('../dist/cli/main.js');
} else {
  const { existsSync } = require('node:fs');
  const { join } = require('node:path');
  const { spawn } = require('node:child_process');
  const bundled = join(__dirname, '..', 'node_modules', 'node', 'bin', 'node');
  if (existsSync(bundled)) {
    const child = spawn(bundled, [__filename, ...process.argv.slice(2)], { stdio: 'inherit' });
    // Ctrl-C reaches the child from the terminal; this process only waits for it.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
      process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
    child.on('exit', (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code)));
  } else {
    console.error(
      `holdfast: node_too_old: Holdfast needs a newer Node: got ${process.versions.node}, allowed ${MIN_NODE} or newer. ` +
        'Next: Install that Node, or run `npm ci` in the checkout, which brings one along.',
    );
    process.exit(69);
  }
}
