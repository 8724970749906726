// The JavaScript calls that matter, as in Node.
import { HOME, REMOTE, SECRET, UNKNOWN, isKnown, isRemote } from '../text';
import { decoded } from '../commands/outputs';
import {
  argument,
  below,
  isTrue,
  keepFile,
  moveFile,
  readFile,
  removeFile,
  removeTree,
  report,
  runCode,
  runProgram,
  runShell,
  sends,
  writeFile,
} from './calls';
import type { Call, CallTable } from './call';
import { allText, moduleName, unknown, type Value } from './value';

type Handler = (call: Call) => Value | undefined;

const text = (call: Call, value: string): Value => ({ text: value, node: call.node });
/** An option of a call: options are its last object. */
const option = ({ args }: Call, name: string): Value | undefined =>
  args.findLast(({ entries }) => entries)?.entries?.get(name);

const shell: Handler = (call) => runShell(call, call.args[0], option(call, 'input'));
const starts: Handler = (call) => {
  const [file, list] = call.args;
  if (!file) return undefined;
  const words = [file, ...(list?.items ?? [])];
  if (!isTrue(option(call, 'shell'))) return runProgram(call, words, option(call, 'input'));
  return runShell(
    call,
    words.length === 1 ? file : { text: words.map((word) => word.text).join(' '), node: file.node },
  );
};
/** For zx and similar: the template is the command. */
const template: Handler = (call) => runShell(call, call.args[0]);

const removes: Handler = (call) => {
  if (isTrue(option(call, 'recursive'))) removeTree(call, call.args[0]);
  else removeFile(call, call.args[0]);
  return undefined;
};
const removesTree: Handler = (call) => {
  for (const value of call.args.flatMap((each) => each.items ?? [each])) removeTree(call, value);
  return undefined;
};
const writes: Handler = (call) => {
  keepFile(call, call.args[0], allText(call.args[1]));
  writeFile(call, call.args[0]);
  return undefined;
};
const opens: Handler = (call) => {
  if (/[wa+]/.test(call.args[1]?.text ?? '')) writeFile(call, call.args[0]);
  return undefined;
};
const copies: Handler = (call) => {
  keepFile(call, call.args[1], readFile(call, call.args[0]).text);
  writeFile(call, call.args[1]);
  return undefined;
};
const reads: Handler = (call) => readFile(call, call.args[0]);
const joinsPath: Handler = (call) =>
  text(
    call,
    call.args.reduce(
      (path, { text: part }) =>
        path === '' || (/\.resolve$/.test(call.dotted) && /^[/\uE001]/.test(part)) ? part : `${path}/${part}`,
      '',
    ),
  );
const asGiven: Handler = (call) => call.args[0];
const requires: Handler = (call) => ({ ...unknown(call.node), dotted: moduleName(call.args[0]?.text ?? '') });
const runs: Handler = (call) => runCode(call, 'javascript', call.args[0]);
const fromBytes: Handler = (call) => {
  const [given, encoding] = call.args;
  if (!given || !isKnown(given.text) || (encoding?.text !== 'base64' && encoding?.text !== 'hex'))
    return given && { ...given };
  return text(call, decoded(given.text, encoding.text));
};
const unescapes: Handler = (call) => {
  try {
    return text(call, decodeURIComponent(call.args[0]?.text ?? '').replace(/[\uE000-\uE1FF]/g, '?'));
  } catch {
    return undefined;
  }
};

/** The functions of `fs`: with a callback, with Sync, and as promises. */
const ofFs = (name: string, handler: Handler): [string, Handler][] =>
  ['fs', 'fs.promises', 'fs-extra', 'fs.default', 'graceful-fs'].flatMap((module): [string, Handler][] => [
    [`${module}.${name}`, handler],
    [`${module}.${name}Sync`, handler],
  ]);
const named = (names: string, handler: Handler): [string, Handler][] =>
  names.split(' ').map((name): [string, Handler] => [name, handler]);

const CALLS = new Map<string, Handler>([
  ...named(
    'child_process.exec child_process.execSync shelljs.exec execa.execaCommand execa.execaCommandSync execa.commandSync execa.command',
    shell,
  ),
  ...named(
    'child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync execa execa.execa execa.execaSync execa.sync cross-spawn cross-spawn.sync Bun.spawn Bun.spawnSync',
    starts,
  ),
  ...named('zx.$ execa.$ bun.$ Bun.$ $ dax.default', template),
  ...['rm', 'rmdir', 'rmSync'].flatMap((name) => ofFs(name, removes)),
  ...ofFs('unlink', (call) => (removeFile(call, call.args[0]), undefined)),
  ...['remove', 'emptyDir', 'emptydir'].flatMap((name) => ofFs(name, removesTree)),
  ...named(
    'rimraf rimraf.sync rimraf.rimraf rimraf.rimrafSync rimraf.default del del.sync del.deleteAsync del.deleteSync trash',
    removesTree,
  ),
  [
    'shelljs.rm',
    (call) =>
      runProgram(call, [{ ...text(call, 'rm') }, ...call.args.flatMap((each) => each.items ?? [each])]),
  ],
  ...['writeFile', 'appendFile', 'createWriteStream', 'outputFile'].flatMap((name) => ofFs(name, writes)),
  ...ofFs('truncate', (call) => (writeFile(call, call.args[0]), undefined)),
  ...ofFs('open', opens),
  ...['copyFile', 'cp', 'copy'].flatMap((name) => ofFs(name, copies)),
  ...['rename', 'move'].flatMap((name) =>
    ofFs(name, (call) => (moveFile(call, call.args[0], call.args[1]), undefined)),
  ),
  ...['readFile', 'createReadStream', 'readJson'].flatMap((name) => ofFs(name, reads)),
  ...ofFs('readdir', (call) =>
    below({ ...call }, { text: '', node: call.node }, !isKnown(call.args[0]?.text ?? UNKNOWN)),
  ),
  ...named(
    'path.join path.resolve path.posix.join path.posix.resolve path.default.join path.default.resolve',
    joinsPath,
  ),
  ...named('path.normalize String fs.realpathSync util.promisify Buffer.concat', asGiven),
  ...named('os.homedir os.default.homedir', (call) => text(call, HOME)),
  ...named('require import module.createRequire() process.getBuiltinModule', requires),
  ...named(
    'eval Function AsyncFunction window.eval globalThis.eval global.eval vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script vm.compileFunction',
    runs,
  ),
  ...named('setTimeout setInterval setImmediate', (call) =>
    call.args[0] && isRemote(call.args[0].text) && !call.args[0].func ? runs(call) : undefined,
  ),
  ...named('Buffer.from', fromBytes),
  ...named('atob', (call) => fromBytes({ ...call, args: [...call.args.slice(0, 1), text(call, 'base64')] })),
  ...named('decodeURIComponent unescape decodeURI', unescapes),
  ...named('JSON.stringify', (call) =>
    call.args[0]?.dotted === 'process.env' ? text(call, SECRET + UNKNOWN) : undefined,
  ),
  ...named('Object.assign Object.fromEntries Object.entries', (call) =>
    call.args.some(({ dotted }) => dotted === 'process.env') ? text(call, SECRET + UNKNOWN) : undefined,
  ),
  [
    'process.kill',
    (call) => {
      if (call.args[0]?.text === '-1') report(call, 'destructive', 'it ends every process it can');
      return undefined;
    },
  ],
]);

const CLIENTS =
  /^(?:fetch|globalThis\.fetch|window\.fetch|node-fetch(?:\.default)?|undici\.(?:fetch|request|stream)|(?:axios|got|superagent|needle|request|ky|phin|bent)(?:\.default)?(?:\.\w+)?(?:\(\)\.\w+)?|https?\.(?:default\.)?(?:get|request)|net\.(?:connect|createConnection)|tls\.connect)$/;
const CONNECTED =
  /^(?:https?\.(?:default\.)?request|net\.(?:connect|createConnection|Socket)|tls\.connect|dgram\.createSocket|WebSocket|ws|ws\.WebSocket)\(\)/;
const LOGIN = /^(?:headers|auth|agent|httpsAgent|signal)$/;

/** Request options, without credentials. */
function body(value: Value): Value {
  if (!value.entries) return value;
  return { ...value, entries: new Map([...value.entries].filter(([name]) => !LOGIN.test(name))) };
}

export const JAVASCRIPT: CallTable = {
  constants: {
    'process.env': SECRET + UNKNOWN,
    'process.env.HOME': HOME,
    'path.sep': '/',
    'process.execPath': 'node',
  },
  call(call) {
    const { dotted, method, receiver } = call;
    // Covers both spellings of a module's default export, and the promise variants.
    const name = dotted
      .replace(/^fs\.promises\.default\./, 'fs.promises.')
      .replace(/^child_process\.default\./, 'child_process.');
    const handler = CALLS.get(name);
    if (handler) return handler(call);
    if (CLIENTS.test(name)) return { ...sends(call, ...call.args.map(body)), dotted: `${name}()` };
    if (CONNECTED.test(name) && /^(?:write|end|send)$/.test(method)) return sends(call, ...call.args);
    if (method === 'pipe' && receiver && call.args[0]) return piped(call, receiver, call.args[0]);
    if (method === 'then' && receiver) return thenOf(call, receiver);
    if (method === 'fileURLToPath') return argument(call, 0);
    return undefined;
  },
};

/** `socket.pipe(shell.stdin)`, or a file piped into a connection. */
function piped(call: Call, receiver: Value, target: Value): Value {
  const isSocket =
    CONNECTED.test(target.dotted ?? '') || CLIENTS.test((target.dotted ?? '').replace(/\(\)$/, ''));
  if (isSocket) sends(call, receiver);
  if (isRemote(receiver.text) && /\.stdin$/.test(target.dotted ?? ''))
    report(call, 'remote_code', 'it runs what the network sent');
  return { ...target, text: isRemote(receiver.text) ? REMOTE + UNKNOWN : target.text, node: call.node };
}

/** The promise's value is passed to the function, whose result continues the chain. */
function thenOf(call: Call, receiver: Value): Value | undefined {
  const [next] = call.args;
  if (!next) return undefined;
  const value = { ...receiver, dotted: undefined };
  if (next.func) return call.program.call(next.func, [value]);
  const handler = CALLS.get(next.dotted ?? '');
  return handler?.({ ...call, args: [value], dotted: next.dotted ?? '' });
}
