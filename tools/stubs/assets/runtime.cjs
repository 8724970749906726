// How a tool is called from Node: one connection per call, which also keeps the process alive until its end.
'use strict';
const { readFileSync, statSync } = require('node:fs');
const { connect } = require('node:net');
const { join } = require('node:path');

const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

class ToolError extends Error {
  constructor(code, message, retryable = false, callId = null) {
    super(message);
    this.name = 'ToolError';
    this.code = code;
    this.retryable = retryable;
    this.callId = callId;
  }
}

const unavailable = (reason) =>
  new ToolError(
    'tools_unavailable',
    `The agent's tools cannot be reached: ${reason}. Next: run the script as a command of a Holdfast session that ` +
      'still exists; the tool has not run.',
  );
const lost = (name) =>
  new ToolError(
    'call_lost',
    `The connection closed before ${name} answered. Next: find out whether it took effect before you call it ` +
      'again; its outcome is unknown.',
  );

function currentFolder() {
  try {
    return process.cwd();
  } catch {
    return process.env.PWD ?? '/'; // It was deleted.
  }
}

function frameOf(name, args) {
  const request = {
    id: 1,
    token: process.env.HOLDFAST_TOOL_TOKEN ?? '',
    version: 1,
    verb: 'call',
    body: { tool: name, args, cwd: currentFolder() },
  };
  let body;
  try {
    body = Buffer.from(JSON.stringify(request));
  } catch (err) {
    throw new ToolError('invalid_input', `The arguments of ${name} are not JSON: ${err.message}`);
  }
  if (body.length > MAX_FRAME_BYTES)
    throw new ToolError(
      'arguments_too_large',
      `The arguments of ${name} are too large: got ${body.length} bytes, allowed ${MAX_FRAME_BYTES}. Next: write ` +
        'the data to a file and pass its path; the tool has not run.',
    );
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

function valueOf(name, text, answer) {
  let reply;
  try {
    reply = JSON.parse(answer.toString('utf8'));
  } catch {
    throw lost(name);
  }
  if (typeof reply?.error?.code === 'string') {
    const { code, message, facts = {}, retryable } = reply.error;
    throw new ToolError(
      code,
      message ?? facts.message ?? `The call was refused: ${JSON.stringify(facts)}`,
      retryable === true,
    );
  }
  const outcome = reply?.ok;
  if (outcome?.ok !== true) {
    if (typeof outcome?.error?.code !== 'string') throw lost(name);
    const { code, message, retryable } = outcome.error;
    throw new ToolError(code, message, retryable === true, outcome.callId ?? null);
  }
  const value = outcome.value ?? null;
  return text && typeof value !== 'string' ? JSON.stringify(value) : value;
}

/** Sends a frame and resolves with the bytes of the answer; closing the connection cancels the call. */
function exchange(name, frame, signal) {
  const path = process.env.HOLDFAST_TOOL_SOCKET;
  if (!path) return Promise.reject(unavailable('HOLDFAST_TOOL_SOCKET is not set'));
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const connection = connect({ path });
    let chunks = [];
    let length = 0;
    let isConnected = false;
    let failure;
    const onAbort = () => {
      failure = () => signal.reason;
      connection.destroy();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    connection.on('connect', () => {
      isConnected = true;
      connection.write(frame);
    });
    connection.on('data', (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length < 4) return;
      if (chunks[0].length < 4) chunks = [Buffer.concat(chunks)];
      const expected = chunks[0].readUInt32BE(0);
      if (expected > MAX_ANSWER_BYTES) return connection.destroy();
      if (length < 4 + expected) return;
      resolve(Buffer.concat(chunks).subarray(4, 4 + expected));
      connection.destroy();
    });
    connection.on('error', (err) => {
      if (!isConnected) failure ??= () => (err.code === 'EAGAIN' ? 'full' : unavailable(err.message));
    });
    connection.on('end', () => connection.destroy());
    connection.on('close', () => {
      signal?.removeEventListener('abort', onAbort);
      const reason = failure ? failure() : lost(name);
      if (reason !== 'full') return reject(reason);
      // The socket's queue is full, and nothing signals when it no longer is.
      setTimeout(() => exchange(name, frame, signal).then(resolve, reject), 5);
    });
  });
}

/** Calls a tool by name. `text`: it always returns text. */
async function invoke(name, text, args = {}, { signal } = {}) {
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    throw new ToolError(
      'invalid_input',
      `${name} takes one object of arguments: got ${Array.isArray(args) ? 'an array' : typeof args}, allowed ` +
        '{ argument: value }.',
    );
  return valueOf(name, text, await exchange(name, frameOf(name, args), signal));
}

// ---- The functions and the tools behind them ----

/** Tool -> its function. */
const stubs = new Map();

/** The function of a tool, always the same one. `text`: it returns text. */
function stub(functionName, tool, text) {
  const known = stubs.get(tool);
  if (known) return known;
  const call = (args, options) => invoke(tool, text, args, options);
  Object.defineProperty(call, 'name', { value: functionName });
  stubs.set(tool, call);
  return call;
}

let read = { stamp: '', entries: [] };

/** The current tools: read again when the file has changed. */
function manifest() {
  for (const folder of [process.env.HOLDFAST_TOOLS, join(__dirname, '..', '..')]) {
    if (!folder) continue;
    const file = join(folder, 'tools.json');
    try {
      const { mtimeMs, size, ino } = statSync(file);
      const stamp = `${file} ${mtimeMs} ${size} ${ino}`;
      if (stamp !== read.stamp) read = { stamp, entries: JSON.parse(readFileSync(file, 'utf8')) };
      return read.entries;
    } catch {
      continue;
    }
  }
  return [];
}

const isText = ({ result }) => result === null || result === undefined || result.type === 'string';

module.exports = { ToolError, invoke, isText, manifest, stub };
