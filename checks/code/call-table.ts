// The calls of Python and JavaScript that matter. Both are in one table: their names differ, what they do does not.
import { BELOW, HOME, REMOTE, SECRET, UNKNOWN, isKnown, isRemote, unquoted } from '../text';
import { byName } from '../commands/command';
import { isThisMachine } from '../commands/network-commands';
import { decoded } from '../commands/outputs';
import { GIVES_SHELL, RUNS_REMOTE } from '../findings';
import { argument, isTrue, option, report, runAs, runCode, runProgram, runShell } from './calls';
import { many, one, templateParts } from './estree';
import { expandHome } from './methods';
import { allText, list, moduleName, unknown, type Call, type Value } from './value';

type Handler = (call: Call) => Value | undefined;

const text = ({ node }: Call, value: string): Value => ({ text: value, node });
const asGiven: Handler = ({ args }) => args[0];
const wordsOf = (values: Value[]): Value[] =>
  values.filter(({ entries, func }) => !entries && !func).flatMap((value) => value.items ?? [value]);

const shell: Handler = (call) => runShell(call, argument(call, 0, 'cmd', 'command'), option(call, 'input'));
const program: Handler = (call) => runProgram(call, wordsOf(call.args));
/** Arguments as a list, or one line for a shell. */
const starts: Handler = (call) => {
  const command = argument(call, 0, 'args');
  if (!command) return undefined;
  const words = wordsOf([command, ...call.args.slice(1)]);
  const input = option(call, 'input');
  const isLine = words.length === 1 && !command.items;
  if (!isLine && !isTrue(option(call, 'shell'))) return runProgram(call, words, input);
  return runShell(call, isLine ? command : text(call, words.map((word) => word.text).join(' ')), input);
};
/** `os.execvp(file, [name, …])` and `os.execlp(file, name, …)`. */
const execs: Handler = (call) => {
  const [file, ...rest] = call.args;
  return file && runProgram(call, [file, ...wordsOf(rest).slice(1)]);
};

/** Files below a folder, of which a condition selects some, are not all of them. */
const isSpared = ({ program }: Call, path: Value | undefined): boolean =>
  program.conditions > 0 && path?.text.includes(BELOW) === true;
const removes =
  (isTree: boolean): Handler =>
  (call) => {
    const path = argument(call, 0, 'path');
    const command = isTree || isTrue(option(call, 'recursive')) ? 'rm -r' : 'rm';
    if (path && !isSpared(call, path)) runAs(call, command, wordsOf([path]));
    return undefined;
  };
const writes: Handler = (call) => (runAs(call, 'tee', [call.args[0]], call.args[1]), undefined);
const appends: Handler = (call) => (runAs(call, 'tee -a', [call.args[0]], call.args[1]), undefined);
const reads: Handler = (call) => runAs(call, 'cat', [call.args[0]]);
/** The same as a command with the first arguments. */
const as =
  (command: string, count = 2): Handler =>
  (call) => (runAs(call, command, call.args.slice(0, count)), undefined);
const sends = (call: Call, ...values: (Value | undefined)[]): Value =>
  runAs(call, 'nc', [], text(call, values.map((value) => allText(value)).join('')));
const opens: Handler = (call) => {
  const path = argument(call, 0, 'file', 'path', 'name');
  const mode = argument(call, 1, 'mode', 'flags');
  const isWriting = mode && /[wax+]|WRONLY|RDWR/.test(mode.text + (mode.dotted ?? ''));
  if (!path || !isWriting) return runAs(call, 'cat', [path]);
  runAs(call, /a/.test(mode.text) ? 'tee -a' : 'tee', [path]);
  return { ...unknown(call.node), dotted: 'file()', entries: new Map([['path', path]]) };
};
const lists: Handler = (call) => text(call, call.args[0] && isKnown(call.args[0].text) ? BELOW : UNKNOWN);
/** Any path below the given one. */
const walks: Handler = (call) => text(call, `${(call.args[0]?.text ?? '').replace(/\/$/, '')}/${BELOW}`);
/** Except for `path.join` of Node, an absolute part replaces those before it. */
const joinsPath: Handler = (call) => {
  const joined = call.args.reduce((path, { text: part }) => {
    const isWhole = call.dotted !== 'path.join' && /^[/\uE001]/.test(part);
    return isWhole || path === '' ? part : `${path}/${part}`;
  }, '');
  return text(call, joined);
};
const asPath = (value: Value | undefined): Value | undefined =>
  value && { ...value, dotted: 'pathlib.Path()' };

const known = ({ node }: Call, dotted: string): Value => ({ ...unknown(node), dotted });
/** Base64, unless the name or the next argument says that it is hexadecimal. */
const decodes: Handler = (call) => {
  const [given, encoding] = call.args;
  if (!given || !isKnown(given.text)) return given;
  const isHex = /hex/.test(call.dotted + (encoding?.text ?? ''));
  if (call.dotted === 'Buffer.from' && !isHex && encoding?.text !== 'base64') return given;
  return text(call, decoded(unquoted(given.text), isHex ? 'hex' : 'base64'));
};
/** With a value from the network as its first argument. */
const risky =
  (reason: string): Handler =>
  (call) => {
    if (isRemote(allText(call.args[0]))) report(call, 'remote_code', reason);
    return undefined;
  };

/** Names as `effectOf` makes them. */
const CALLS = byName<Handler>([
  ['os.system os.popen subprocess.getoutput subprocess.getstatusoutput pexpect.run pexpect.spawn', shell],
  ['asyncio.create_subprocess_shell child_process.exec shelljs.exec execa.execaCommand execa.command', shell],
  // A template is the command.
  ['zx.$ execa.$ bun.$ Bun.$ $ dax', shell],
  ['subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen', starts],
  ['child_process.spawn child_process.execFile execa execa.execa execa.sync cross-spawn Bun.spawn', starts],
  ['pty.spawn asyncio.create_subprocess_exec', program],
  ['os.execv os.execve os.execvp os.execvpe os.execl os.execlp os.execle os.posix_spawn', execs],
  ['shelljs.rm', (call) => runProgram(call, [text(call, 'rm'), ...wordsOf(call.args)])],
  ['shutil.rmtree fs.remove fs.emptyDir rimraf rimraf.sync rimraf.rimraf del del.sync trash', removes(true)],
  ['os.remove os.unlink os.rmdir fs.rm fs.rmdir fs.unlink', removes(false)],
  ['os.truncate fs.truncate fs.writeFile fs.createWriteStream fs.outputFile', writes],
  ['fs.appendFile', appends],
  ['shutil.copy shutil.copy2 shutil.copyfile fs.copyFile fs.cp fs.copy', as('cp')],
  ['os.rename os.replace shutil.move fs.rename fs.move', as('mv')],
  ['open io.open os.open codecs.open fs.open', opens],
  ['fs.readFile fs.createReadStream fs.readJson', reads],
  ['os.listdir fs.readdir', lists],
  ['os.walk os.scandir', walks],
  ['os.path.join path.join path.resolve path.posix.join', joinsPath],
  ['os.path.abspath os.path.realpath os.path.normpath os.fspath path.normalize fs.realpath', asGiven],
  ['shlex.quote str bytes String util.promisify Buffer.concat glob.glob glob.iglob dict', asGiven],
  ['os.path.expanduser os.path.expandvars', (call) => text(call, expandHome(call.args[0]?.text ?? ''))],
  ['pathlib.Path pathlib.PosixPath', (call) => asPath(joinsPath(call))],
  ['pathlib.Path.home', (call) => asPath(text(call, HOME))],
  ['os.homedir', (call) => text(call, HOME)],
  [
    'os.getenv os.environ.get',
    (call) => text(call, call.args[0]?.text === 'HOME' ? HOME : (call.args[1]?.text ?? UNKNOWN)),
  ],
  [
    'shlex.split',
    (call) =>
      list(
        (call.args[0]?.text ?? UNKNOWN).split(/\s+/).map((word) => text(call, word.replace(/['"]/g, ''))),
        call.node,
      ),
  ],
  [
    'require import module.createRequire() __import__ importlib.import_module',
    (call) => known(call, moduleName(call.args[0]?.text ?? '')),
  ],
  [
    'file().write',
    (call) => (runAs(call, 'tee -a', [call.receiver?.entries?.get('path')], call.args[0]), undefined),
  ],
  ['getattr', (call) => known(call, `${call.args[0]?.dotted ?? ''}.${call.args[1]?.text ?? ''}`)],
  ['exec eval compile Function AsyncFunction', runCode],
  ['vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script vm.compileFunction', runCode],
  [
    'pickle.loads pickle.load marshal.loads cloudpickle.loads dill.loads',
    risky('it loads objects with code that the network sent'),
  ],
  ['base64.b64decode base64.decodebytes atob Buffer.from binascii.unhexlify bytes.fromhex', decodes],
  ['socket.socket socket.create_connection', (call) => text(call, REMOTE + UNKNOWN)],
  ['urllib.request.urlretrieve', (call) => runAs(call, 'tee', [call.args[1]], sends(call, call.args[0]))],
  ['os.dup2', risky(GIVES_SHELL)],
  ['os.kill process.kill', as('kill -9', 1)],
  [
    'os.fork',
    (call) => {
      if (call.program.isEndless) report(call, 'destructive', 'it starts itself without end');
      return undefined;
    },
  ],
]);

/** Methods of `pathlib.Path`: the same as functions with the path as first argument. */
const OF_PATHS = byName<Handler>([
  ['unlink rmdir', removes(false)],
  ['write_text write_bytes', writes],
  ['open', opens],
  ['read_text read_bytes', reads],
  ['rename replace', as('mv')],
  ['iterdir', (call) => asPath(walks(call))],
  ['glob rglob', (call) => (/^[*/]+$/.test(call.args[1]?.text ?? '') ? asPath(walks(call)) : undefined)],
]);

/** Texts for the values of known names. */
const CONSTANTS = byName([
  ['os.environ process.env', SECRET + UNKNOWN],
  ['os.environ.HOME process.env.HOME', HOME],
  ['os.sep os.path.sep path.sep', '/'],
  ['os.devnull', '/dev/null'],
  ['sys.executable', 'python3'],
  ['process.execPath', 'node'],
]);

export const constantOf = (dotted: string | undefined): string | undefined => CONSTANTS.get(dotted ?? '');

/** Whether a value is the whole environment of the process. */
export const isEnvironment = ({ dotted }: Value): boolean => constantOf(dotted) === SECRET + UNKNOWN;

const CLIENTS =
  /^(?:(?:requests|httpx|aiohttp|urllib3|urllib\.request|http\.client|pycurl)\b.*\.(?:post|put|patch|get|delete|head|options|request|send|urlopen|Request|stream|ws_connect)|(?:globalThis\.|window\.)?fetch|node-fetch|undici\.(?:fetch|request|stream)|(?:axios|got|superagent|needle|request|ky|phin|bent)(?:\.\w+)?(?:\(\)\.\w+)?|https?\.(?:get|request)|net\.(?:connect|createConnection)|tls\.connect)$/;
const CONNECTED =
  /^(?:socket\.\w+|https?\.request|net\.(?:connect|createConnection|Socket)|tls\.connect|dgram\.createSocket|WebSocket|ws|ws\.WebSocket)\(\)/;
/** Methods whose names are unambiguous, whatever the receiver. */
const SENDERS = /^(?:sendall|sendto|sendmail|send_message|storbinary)$/;
const UPLOADERS = /^(?:upload_file|upload_fileobj|put_object|upload_from_filename|fput_object)$/;
/** Credentials are meant to be sent. */
const LOGIN = /^(?:headers|auth|cookies|cert|verify|timeout|agent|httpsAgent|signal)$/;

/** The result of a call in the table; undefined for any other. */
export function effectOf(given: Call): Value | undefined {
  // One name for `fs`, its promises and its substitutes, and for what waits or not.
  const dotted = given.dotted
    .replaceAll('.default', '')
    .replace(/^(?:fs\.promises|fs-extra|graceful-fs)\./, 'fs.')
    .replace(/Sync$/, '');
  const call = { ...given, dotted };
  const { method, receiver, args, keywords } = call;
  const handler = CALLS.get(dotted);
  if (handler) return handler(call);
  const values = [...args.map(withoutLogin), ...withoutLogins(keywords).values()];
  if (CLIENTS.test(dotted)) {
    const answer = staysHere(call) ? text(call, REMOTE + UNKNOWN) : sends(call, ...values);
    return { ...answer, dotted: `${dotted}()` };
  }
  if (SENDERS.test(method) || (CONNECTED.test(dotted) && /^(?:write|end|send)$/.test(method)))
    return sends(call, ...args);
  if (UPLOADERS.test(method)) return runAs(call, 'aws', values);
  if (!receiver) return undefined;
  if (method === 'pipe' && args[0]) return piped(call, receiver, args[0]);
  if (method === 'then' && args[0]) return thenOf(call, receiver, args[0]);
  const isPath = receiver.dotted === 'pathlib.Path()' || receiver.text.includes(BELOW);
  return isPath ? OF_PATHS.get(method)?.({ ...call, args: [receiver, ...args] }) : undefined;
}

const withoutLogins = (entries: Map<string, Value>): Map<string, Value> =>
  new Map([...entries].filter(([name]) => !LOGIN.test(name)));
const withoutLogin = (value: Value): Value =>
  value.entries ? { ...value, entries: withoutLogins(value.entries) } : value;

/** Its address begins with this machine, literally: one in a variable is often only the default. */
function staysHere(call: Call): boolean {
  const address = one(many(call.node.arguments)[0]);
  const [first, ...others] = address.type === 'TemplateLiteral' ? templateParts(address) : [address];
  const start = first?.value as string | { cooked?: unknown } | undefined;
  const literal = typeof start === 'object' ? start.cooked : start;
  if (typeof literal !== 'string' || option(call, 'proxies') || option(call, 'proxy')) return false;
  // What follows in a template must not be a part of the host.
  return isThisMachine(literal) && (others.length === 0 || /^https?:\/\/[^/?#:]+[:/?#]/.test(literal));
}

/** `socket.pipe(shell.stdin)`, or a file piped into a connection. */
function piped(call: Call, receiver: Value, target: Value): Value {
  const isShell = target.dotted?.endsWith('.stdin');
  if (isShell && isRemote(receiver.text)) report(call, 'remote_code', RUNS_REMOTE);
  if (CONNECTED.test(target.dotted ?? '')) sends(call, receiver);
  return { ...target, text: isRemote(receiver.text) ? REMOTE + UNKNOWN : target.text, node: call.node };
}

/** The promise's value is passed to the function, whose result continues the chain. */
function thenOf(call: Call, receiver: Value, next: Value): Value | undefined {
  const value = { ...receiver, dotted: undefined };
  if (next.func) return call.program.call(next.func, [value]);
  return effectOf({ ...call, args: [value], receiver: undefined, method: '', dotted: next.dotted ?? '' });
}
