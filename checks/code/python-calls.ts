// The Python calls that matter.
import { BELOW, HOME, REMOTE, SECRET, UNKNOWN, isKnown, isRemote, unquoted } from '../text';
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
  uploads,
  wordsOfList,
  writeFile,
} from './calls';
import type { Call, CallTable } from './call';
import { expandHome } from './methods';
import { allText, moduleName, unknown, type Value } from './value';

type Handler = (call: Call) => Value | undefined;

const text = (call: Call, value: string): Value => ({ text: value, node: call.node });

const starts: Handler = (call) => {
  const command = argument(call, 0, 'args');
  const input = call.named.get('input');
  const isShell = isTrue(call.named.get('shell'));
  if (!command) return unknown(call.node);
  return command.items && !isShell
    ? runProgram(call, command.items, input)
    : runShell(call, command.items?.[0] ?? command, input);
};
const shell: Handler = (call) => runShell(call, argument(call, 0, 'cmd', 'command'));
const program: Handler = (call) => runProgram(call, call.args.flatMap(wordsOfList));
/** `os.execvp(file, [name, …])` and `os.execlp(file, name, …)`; the `spawn` functions take a mode first. */
const execs: Handler = (call) => {
  const args = /\.spawn/.test(call.dotted) ? call.args.slice(1) : call.args;
  const [file, ...rest] = args;
  const words = rest[0]?.items ?? rest;
  return file ? runProgram(call, [file, ...words.slice(1)]) : undefined;
};

const opens: Handler = (call) => {
  const path = argument(call, 0, 'file', 'path', 'name');
  const mode = argument(call, 1, 'mode', 'flags');
  if (mode && /[wax+]|WRONLY|RDWR/.test(`${mode.text}${mode.dotted ?? ''}`)) {
    writeFile(call, path);
    return { ...unknown(call.node), dotted: 'file()', entries: path ? new Map([['path', path]]) : undefined };
  }
  return readFile(call, path);
};

const joinsPath: Handler = (call) =>
  text(
    call,
    call.args.reduce(
      (path, { text: part }) =>
        part.startsWith('/') || part.startsWith(HOME) ? part : path === '' ? part : `${path}/${part}`,
      '',
    ),
  );

const asGiven: Handler = (call) => call.args[0] && { ...call.args[0], text: call.args[0].text };
const asPath: Handler = (call) => ({
  ...(joinsPath(call) ?? unknown(call.node)),
  text: call.args.length === 0 ? '.' : (joinsPath(call)?.text ?? ''),
  dotted: 'pathlib.Path()',
});
const imports: Handler = (call) => ({ ...unknown(call.node), dotted: moduleName(call.args[0]?.text ?? '') });
const named: Handler = (call) => ({
  ...unknown(call.node),
  dotted: `${call.args[0]?.dotted ?? '?'}.${call.args[1]?.text ?? ''}`,
});
const runs: Handler = (call) => runCode(call, 'python', call.args[0]);
const loads: Handler = (call) => {
  if (isRemote(allText(call.args[0])))
    report(call, 'remote_code', 'it loads objects with code that the network sent');
  return undefined;
};
const variable: Handler = (call) => text(call, call.args[0]?.text === 'HOME' ? HOME : UNKNOWN);
const environment: Handler = (call) => {
  const { args, node } = call;
  return args[0]?.dotted === 'os.environ' ? args[0] : unknown(node, ...args);
};

const CALLS: Record<string, Handler | undefined> = Object.assign(Object.create(null) as object, {
  'os.system': shell,
  'os.popen': shell,
  'subprocess.getoutput': shell,
  'subprocess.getstatusoutput': shell,
  'commands.getoutput': shell,
  'asyncio.create_subprocess_shell': shell,
  'pexpect.run': shell,
  'pexpect.spawn': shell,
  get_ipython: undefined,
  'subprocess.run': starts,
  'subprocess.call': starts,
  'subprocess.check_call': starts,
  'subprocess.check_output': starts,
  'subprocess.Popen': starts,
  'pty.spawn': program,
  'asyncio.create_subprocess_exec': program,
  ...Object.fromEntries(
    [
      'execv',
      'execve',
      'execvp',
      'execvpe',
      'execl',
      'execlp',
      'execle',
      'spawnv',
      'spawnvp',
      'spawnl',
      'spawnlp',
      'posix_spawn',
    ].map((name) => [`os.${name}`, execs]),
  ),
  'shutil.rmtree': (call: Call) => (removeTree(call, argument(call, 0, 'path')), undefined),
  'distutils.dir_util.remove_tree': (call: Call) => (removeTree(call, call.args[0]), undefined),
  'os.remove': (call: Call) => (removeFile(call, argument(call, 0, 'path')), undefined),
  'os.unlink': (call: Call) => (removeFile(call, argument(call, 0, 'path')), undefined),
  'os.rmdir': (call: Call) => (removeFile(call, argument(call, 0, 'path')), undefined),
  'os.truncate': (call: Call) => (writeFile(call, call.args[0]), undefined),
  'os.rename': (call: Call) => (moveFile(call, call.args[0], call.args[1]), undefined),
  'os.replace': (call: Call) => (moveFile(call, call.args[0], call.args[1]), undefined),
  'shutil.move': (call: Call) => (moveFile(call, call.args[0], call.args[1]), undefined),
  ...Object.fromEntries(
    ['copy', 'copy2', 'copyfile'].map((name) => [
      `shutil.${name}`,
      (call: Call) => {
        keepFile(call, call.args[1], readFile(call, call.args[0]).text);
        writeFile(call, call.args[1]);
        return undefined;
      },
    ]),
  ),
  'os.kill': (call: Call) => {
    if (call.args[0]?.text === '-1') report(call, 'destructive', 'it ends every process it can');
    return undefined;
  },
  'os.fork': (call: Call) => {
    if (call.program.isEndless) report(call, 'destructive', 'it starts itself without end');
    return undefined;
  },
  open: opens,
  'io.open': opens,
  'os.open': opens,
  'codecs.open': opens,
  'os.path.join': joinsPath,
  'os.path.expanduser': (call: Call) => text(call, expandHome(call.args[0]?.text ?? '')),
  'os.path.expandvars': (call: Call) =>
    text(call, (call.args[0]?.text ?? '').replace(/\$(?:HOME\b|\{HOME\})/g, HOME)),
  'os.path.abspath': asGiven,
  'os.path.realpath': asGiven,
  'os.path.normpath': asGiven,
  'os.fspath': asGiven,
  'shlex.quote': asGiven,
  'shlex.split': (call: Call) =>
    isKnown(call.args[0]?.text ?? UNKNOWN)
      ? call.program.list(
          (call.args[0]?.text ?? '')
            .split(/\s+/)
            .map((word) => text(call, word.replace(/^(['"])(.*)\1$/, '$2'))),
          call.node,
        )
      : undefined,
  str: asGiven,
  bytes: asGiven,
  'pathlib.Path': asPath,
  'pathlib.PosixPath': asPath,
  'pathlib.Path.home': (call: Call) => ({ ...text(call, HOME), dotted: 'pathlib.Path()' }),
  'pathlib.Path().home': (call: Call) => ({ ...text(call, HOME), dotted: 'pathlib.Path()' }),
  'os.getenv': variable,
  'os.environ.get': variable,
  'os.environ.copy': (call: Call) => call.receiver,
  dict: environment,
  __import__: imports,
  'importlib.import_module': imports,
  getattr: named,
  exec: runs,
  eval: runs,
  compile: runs,
  'runpy.run_path': (call: Call) => runCode(call, 'python', readFile(call, call.args[0])),
  'pickle.loads': loads,
  'pickle.load': loads,
  'marshal.loads': loads,
  'cloudpickle.loads': loads,
  'dill.loads': loads,
  'base64.b64decode': (call: Call) => decodes(call, 'base64'),
  'base64.decodebytes': (call: Call) => decodes(call, 'base64'),
  'binascii.unhexlify': (call: Call) => decodes(call, 'hex'),
  'codecs.decode': (call: Call) =>
    call.args[1]?.text === 'rot13' || call.args[1]?.text === 'rot_13'
      ? text(call, rot13(call.args[0]?.text ?? ''))
      : call.args[1]?.text === 'hex'
        ? decodes(call, 'hex')
        : undefined,
  'os.walk': (call: Call) => below(call, call.args[0]),
  'os.listdir': (call: Call) => text(call, call.args[0] && isKnown(call.args[0].text) ? BELOW : UNKNOWN),
  'os.scandir': (call: Call) => below(call, call.args[0]),
  'glob.glob': (call: Call) => text(call, call.args[0]?.text ?? UNKNOWN),
  'glob.iglob': (call: Call) => text(call, call.args[0]?.text ?? UNKNOWN),
  'socket.socket': (call: Call) => text(call, REMOTE + UNKNOWN),
  'socket.create_connection': (call: Call) => ({
    ...text(call, REMOTE + UNKNOWN),
    dotted: 'socket.socket()',
  }),
  'os.dup2': (call: Call) => {
    if (call.args[0] && isRemote(call.args[0].text))
      report(call, 'remote_code', 'it gives the network a shell');
    return undefined;
  },
  'urllib.request.urlretrieve': (call: Call) => (
    keepFile(call, call.args[1], REMOTE + UNKNOWN),
    sends(call, ...call.args)
  ),
  'ftplib.FTP().storbinary': (call: Call) => sends(call, ...call.args),
});

const decodes = (call: Call, encoding: 'base64' | 'hex'): Value | undefined => {
  const given = call.args[0]?.text;
  return given !== undefined && isKnown(given) ? text(call, decoded(unquoted(given), encoding)) : undefined;
};
const rot13 = (given: string): string =>
  given.replace(/[a-z]/gi, (char) => {
    const base = char <= 'Z' ? 65 : 97;
    return String.fromCharCode(((char.charCodeAt(0) - base + 13) % 26) + base);
  });

const CLIENTS =
  /^(?:requests|httpx|aiohttp|urllib3|urllib\.request|http\.client|urllib2|pycurl)\b.*\.(?:post|put|patch|get|delete|head|options|request|send|urlopen|Request|stream|ws_connect)$/;
/** Methods whose names are unambiguous, whatever the receiver. */
const SENDERS = /(?:^|\.)(?:sendall|sendto|sendmail|send_message)$/;
const UPLOADERS = /(?:^|\.)(?:upload_file|upload_fileobj|put_object|upload_from_filename|fput_object)$/;
const LOGIN = /^(?:headers|auth|cookies|cert|verify|timeout|params_auth)$/;

export const PYTHON: CallTable = {
  constants: {
    'os.environ': SECRET + UNKNOWN,
    'os.sep': '/',
    'os.path.sep': '/',
    'os.curdir': '.',
    'os.devnull': '/dev/null',
    'os.environ.HOME': HOME,
    'sys.executable': 'python3',
  },
  call(call) {
    const handler = CALLS[call.dotted];
    if (handler) return handler(call);
    const { dotted, method, receiver } = call;
    const named = [...call.named].filter(([name]) => !LOGIN.test(name)).map(([, value]) => value);
    if (CLIENTS.test(dotted)) return { ...sends(call, ...call.args, ...named), dotted: `${dotted}()` };
    if (SENDERS.test(dotted) || SENDERS.test(method) || (method === 'send' && dotted.startsWith('socket.')))
      return sends(call, ...call.args);
    if (UPLOADERS.test(dotted) || UPLOADERS.test(method)) {
      for (const value of [...call.args, ...named]) uploads(call, value);
      return unknown(call.node);
    }
    if (receiver) return ofPath(call, receiver, method);
    return undefined;
  },
};

/** Methods of `pathlib.Path` and of open files. */
function ofPath(call: Call, receiver: Value, method: string): Value | undefined {
  const isPath = receiver.dotted === 'pathlib.Path()' || receiver.text.includes(BELOW);
  if (receiver.dotted === 'file()' && method === 'write') {
    keepFile(call, receiver.entries?.get('path'), allText(call.args[0]));
    return unknown(call.node);
  }
  if (!isPath) return undefined;
  switch (method) {
    case 'unlink':
    case 'rmdir':
      return (removeFile(call, receiver), unknown(call.node));
    case 'write_text':
    case 'write_bytes':
      keepFile(call, receiver, allText(call.args[0]));
      return (writeFile(call, receiver), unknown(call.node));
    case 'open':
      return opens({ ...call, args: [receiver, ...call.args] });
    case 'read_text':
    case 'read_bytes':
      return readFile(call, receiver);
    case 'rename':
    case 'replace':
      return (moveFile(call, receiver, call.args[0]), unknown(call.node));
    case 'iterdir':
      return { ...below(call, receiver), dotted: 'pathlib.Path()' };
    case 'glob':
    case 'rglob':
      return {
        ...below(call, receiver, !/^[*/]+$/.test(call.args[0]?.text ?? '')),
        dotted: 'pathlib.Path()',
      };
    default:
      return undefined;
  }
}
