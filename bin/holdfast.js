#!/usr/bin/env node
// Plain old JavaScript, so that any Node can read it and say which one is needed.
'use strict';
const MIN_NODE = [22, 13];

leaveProcessOne();
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) {
  require('../dist/system/compile-cache.js');
  require('../dist/cli/main.js');
} else {
  runByCheckout();
}

/**
 * As process 1 of a container without an init, zombies would pile up: those of MCP servers that end before what they have
 * started. A shell takes this place.
 */
function leaveProcessOne() {
  const { existsSync } = require('node:fs');
  const { join } = require('node:path');
  if (process.pid !== 1 || process.platform !== 'linux' || !process.execve || !existsSync('/bin/sh')) return;
  const script = join(__dirname, '..', 'exec', 'shell', 'process-one.sh');
  const program = [process.execPath, ...process.execArgv, __filename, ...process.argv.slice(2)];
  process.execve('/bin/sh', ['/bin/sh', script, ...program]);
}

/** A checkout has a Node of its own, among its packages for development. */
function runByCheckout() {
  const { existsSync } = require('node:fs');
  const { join } = require('node:path');
  const { spawn } = require('node:child_process');
  const own = join(__dirname, '..', 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(own)) {
    console.error(
      `holdfast: node_too_old: Holdfast needs a newer Node: got ${process.versions.node}, allowed ${MIN_NODE.join('.')} or ` +
        'newer. Next: Install a newer Node, for example from https://nodejs.org or with `nvm install --lts`.',
    );
    process.exit(69);
  }
  const child = spawn(own, [__filename, ...process.argv.slice(2)], { stdio: 'inherit' });
  // From a terminal Ctrl-C reaches the child, too.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal));
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code);
    // Our own handler would keep us alive, and end us with 0.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
