// What a terminal receives from foreign texts: each of our commands, run against a worker that answers with texts that
// a terminal would obey or a person would misread. A command without a line in the table fails here.
import { PassThrough } from 'node:stream';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import type { Command } from 'commander';
import { guardOutput } from '../../../../cli/terminal/guarded-output';
import { program, runCommandLine } from '../../../../cli/program';
import { MAIN_TASK_QUEUE } from '../../../../contracts/ids';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../../../../contracts/messages';
import { identityOf } from '../../../../system/processes/process-identity';
import { registerSearchAttributes } from '../../../../workers/search-attributes';
import {
  AGENT,
  ANSWERS,
  QUESTION,
  REGISTRY,
  RESULT,
  SESSION,
  VIEW,
  WORKER,
} from '../../../helpers/hostile/hostile-answers';
import {
  active,
  hostile,
  HOSTILE,
  HOSTILE_LOG,
  HOSTILE_NAME,
  MARK,
  MCP_INPUT,
  type Hostility,
  type Line,
} from '../../../helpers/hostile/hostile-texts';
import { HostileWorker, Refusal, type Asked } from '../../../helpers/hostile/hostile-worker';
import { testEachOf } from '../../../helpers/run/long-run';
import { Person } from '../../../helpers/terminals/person';
import { testAddress, testClient, uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

const scratch = mkdtempSync(join(tmpdir(), 'holdfast-hostile-'));
const folder = join(scratch, HOSTILE_NAME);
/** An empty one; a worker that reports hostile things about itself; a session with a hostile name. */
const [bare, served, left] = ['bare', 'served', 'left'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
const namespace = uniqueId('hostile');
const replies = join(scratch, 'replies.yaml');
const script = join(folder, 'script.sh');
/** Nothing waits in it: what is shown is how its last command ended. */
const QUIET = `exec/cli/${MARK}/7`;
const TALK = 'agent/talker/turn/1';
const ON_HOST = ['--host', MARK];
/** Commands that would start something real, or show nothing of others, say at least what is wrong with their options. */
const wrong = (...args: string[]): Line => ({ args: [...args, '--profile', HOSTILE_NAME] });
/** By the names of the command line. */
const TABLE: Record<string, Line[]> = {
  up: [wrong('up')],
  down: [{ args: ['down', '--sessions'], data: left, isAlone: true }],
  run: [{ args: ['run', 'task', '--model', `scripted:${replies}`, '--agent', 'ended'] }],
  chat: [{ args: ['chat', '--agent', MARK], input: 'hello\n' }],
  send: [{ args: ['send', MARK, 'hello'] }, { args: ['send', HOSTILE_NAME, '-'], input: 'hello' }],
  stop: [{ args: ['stop', 'stopped'], ends: ['agent/stopped'] }, { args: ['stop', HOSTILE_NAME] }],
  recover: [{ args: ['recover', MARK] }, { args: ['recover', HOSTILE_NAME] }],
  fork: [{ args: ['fork', MARK, 'forked'] }, { args: ['fork', MARK, 'forked', '--at', HOSTILE_NAME] }],
  log: [{ args: ['log', MARK] }, { args: ['log', HOSTILE_NAME] }],
  diff: [{ args: ['diff', MARK] }, { args: ['diff', MARK, '--stat'] }, { args: ['diff', HOSTILE_NAME] }],
  rewind: [
    { args: ['rewind', MARK, '--to', '1'] },
    { args: ['rewind', MARK, '--to', '1', '--dry-run'] },
    { args: ['rewind', 'ended', '--to', '1', '--files'] },
    { args: ['rewind', MARK, '--to', HOSTILE_NAME] },
  ],
  cp: [wrong('cp', script, `${MARK}:.`), { args: ['cp', HOSTILE_NAME, `${MARK}:.`] }],
  exec: [{ args: ['exec', ...ON_HOST, 'echo'], isOutput: true }],
  output: [
    { args: ['output', ...ON_HOST], isOutput: true },
    { args: ['output', ...ON_HOST, '--from', '0'], isOutput: true },
  ],
  input: [{ args: ['input', ...ON_HOST, 'yes'], isOutput: true }],
  reset: [{ args: ['reset', ...ON_HOST], isOutput: true }],
  attach: [{ args: ['attach', ...ON_HOST, '--session', '9', '--watch'], isOutput: true, isSlow: true }],
  arm: [{ args: ['arm', '--host', HOSTILE_NAME] }],
  close: [
    { args: ['close', ...ON_HOST, '--session', '8'], ends: [`exec/cli/${MARK}/8`] },
    { args: ['close', '--session', HOSTILE_NAME] },
  ],
  approve: [
    { args: ['approve', '--list'] },
    { args: ['approve', '--agent', 'asker', '--show'] },
    { args: ['approve', '--agent', 'asker'] },
    { args: ['approve', HOSTILE] },
  ],
  deny: [{ args: ['deny', '--agent', 'asker'] }, { args: ['deny', HOSTILE_NAME] }],
  wait: [{ args: ['wait', ...ON_HOST, '0', '--for', 'pattern:x'] }],
  ps: [{ args: ['ps', '--all'] }],
  tree: [{ args: ['tree', '--all'] }, { args: ['tree', 'asker'] }],
  tools: [{ args: ['tools'], data: served, isAlone: true }],
  'tools show': [{ args: ['tools', 'show', HOSTILE], data: served, isAlone: true }],
  host: [{ args: ['host', HOSTILE_NAME] }],
  'host serve': [wrong('host', 'serve', 'other'), { args: ['host', 'serve', HOSTILE_NAME] }],
  'host ls': [{ args: ['host', 'ls'] }],
  'host show': [{ args: ['host', 'show', MARK] }, { args: ['host', 'show', 'nobody'] }],
  'host access': [{ args: ['host', 'access', HOSTILE_NAME], isAlone: true }],
  'host enrol': [wrong('host', 'enrol', 'other'), { args: ['host', 'enrol', HOSTILE_NAME] }],
  'host token': [{ args: ['host', 'token', HOSTILE_NAME], isAlone: true }],
  'host forget': [{ args: ['host', 'forget', 'nobody'] }],
  check: [{ args: ['check', script], isAlone: true }],
  mcp: [{ args: ['mcp'], input: MCP_INPUT, inputEnds: /"id":2/ }],
  codec: [{ args: ['codec', '--config', join(folder, 'none.toml')], isAlone: true }],
  'codec new-key': [{ args: ['codec', 'new-key', '--file', join(folder, 'new', 'KEY')], isAlone: true }],
  serve: [wrong('serve'), { args: ['serve', '--listen', HOSTILE_NAME] }],
  ui: [{ args: ['ui'], data: served, isAlone: true }],
  token: [{ args: ['token', HOSTILE_NAME] }],
  'token create': [
    { args: ['token', 'create', HOSTILE_NAME, '--role', 'viewer'], isAlone: true },
    { args: ['token', 'create', 'x', '--role', 'viewer', '--agents', HOSTILE_NAME], isAlone: true },
  ],
  'token list': [{ args: ['token', 'list'], data: served, isAlone: true }],
  'token revoke': [
    { args: ['token', 'revoke', 'hostile'], data: left, isAlone: true },
    { args: ['token', 'revoke', HOSTILE_NAME], data: served, isAlone: true },
  ],
  worker: [wrong('worker'), { args: ['worker', '--probes', HOSTILE_NAME] }],
  gc: [{ args: ['gc', '--dry-run', '--older-than', '1s'], data: left, isAlone: true }],
  logs: [
    { args: ['logs'], data: served, isAlone: true },
    { args: ['logs', HOSTILE_NAME], isAlone: true },
  ],
  completion: [{ args: ['completion', HOSTILE_NAME], isAlone: true }],
  doctor: [{ args: ['doctor'], data: served, isAlone: true }],
  demo: [wrong('demo')],
};

const commandsOf = (command: Command, path = ''): string[] =>
  command.commands.flatMap((one) => {
    const name = `${path} ${one.name()}`.trim();
    return [name, ...commandsOf(one, name)];
  });

test('every command has its row in the table of what it may show', async () => {
  expect(Object.keys(TABLE).sort()).toEqual(commandsOf(await program()).sort());
});

type Answers = Hostility | 'refusing';
let how: Answers = 'typed';

/** What the command under test reads. */
function answer({ kind, workflowId, type, name, request }: Asked): unknown {
  const id = workflowId.split('/')[1] ?? '';
  if (kind === 'signal') return ['stop', 'close'].includes(name) ? hostileAnswer(RESULT) : undefined;
  if (kind === 'start' && ANSWERS[`${type} end`]) return hostileAnswer(ANSWERS[`${type} end`]);
  if (kind === 'start') return id === 'ended' ? hostileAnswer(RESULT) : undefined;
  if (how === 'refusing') throw new Refusal(HOSTILE_NAME);
  if (id === 'talker' && type === 'agent' && name === 'state')
    return hostileAnswer({ ...AGENT, status: 'working', currentTurn: TALK }, ['working', TALK]);
  if (id === 'ended' && name === 'state')
    return hostileAnswer({ ...AGENT, currentTurn: null, status: 'ended' }, ['ended']);
  if (workflowId === QUIET && name === 'state') return hostileAnswer({ ...SESSION, approvals: [] });
  const from = name === 'output' && (request as { from?: number } | undefined)?.from;
  if (from && workflowId.endsWith('/9')) throw new Refusal('not_found');
  if (from) return { ...VIEW, from, to: from, output: '' };
  return hostileAnswer(
    ANSWERS[`${type} ${name}`] ?? (name === 'approve' || name === 'deny' ? QUESTION : VIEW),
  );
}

const hostileAnswer = (sample: unknown, kept: string[] = []): unknown =>
  hostile(sample, how === 'untyped' ? 'untyped' : 'typed', { kept });

let client: Client;
let worker: HostileWorker;

const start = (type: string, workflowId: string, agent?: string): Promise<unknown> =>
  client.workflow.start(type, {
    workflowId,
    taskQueue: MAIN_TASK_QUEUE,
    workflowIdConflictPolicy: 'USE_EXISTING',
    ...(agent !== undefined && { searchAttributes: { [SEARCH_ATTRIBUTES.agent]: [agent] } }),
  });
const typeOf = (workflowId: string): string =>
  workflowId.startsWith('agent/') ? WORKFLOWS.agent : WORKFLOWS.execSession;

beforeAll(async () => {
  for (const each of [bare, served, join(left, 'sessions', `${HOSTILE_NAME}.local.1`), join(folder, 'new')])
    mkdirSync(each, { recursive: true });
  writeFileSync(replies, '- text: unused\n');
  writeFileSync(script, `rm -rf / '${HOSTILE_NAME}'\n`);
  writeFileSync(join(served, 'worker.log'), HOSTILE_LOG);
  const identity = identityOf(process.pid);
  writeFileSync(join(served, 'worker.json'), JSON.stringify({ ...hostile(WORKER, 'typed'), identity }));
  writeFileSync(
    join(served, 'registry.json'),
    JSON.stringify({ ...hostile(REGISTRY, 'typed'), worker: identity }),
  );
  for (const each of [served, left]) {
    mkdirSync(join(each, 'gateway'));
    writeFileSync(
      join(each, 'gateway', 'gateway.json'),
      JSON.stringify({ identity, url: `http://${HOSTILE}` }),
    );
    const token = {
      id: 'hostile',
      kind: 'token',
      role: 'viewer',
      agents: [HOSTILE],
      hash: 'x',
      expiresAt: null,
    };
    writeFileSync(
      join(each, 'gateway', 'tokens.json'),
      JSON.stringify([{ ...token, name: HOSTILE, createdAt: HOSTILE }]),
    );
  }
  const own = await testClient();
  const { connection, workflowService } = own.temporal;
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('24 hours'),
  });
  client = new Client({ connection, namespace });
  await until(async () =>
    client.workflow.count().then(
      () => true,
      () => false,
    ),
  );
  await until(async () =>
    registerSearchAttributes(client).then(
      () => true,
      () => false,
    ),
  );
  worker = new HostileWorker(client, MAIN_TASK_QUEUE, answer);
  await Promise.all([
    ...[`agent/${MARK}`, `agent/${HOSTILE_NAME}`].map((id) => start(WORKFLOWS.agent, id)),
    ...[`agent/${MARK}/turn/1`, 'agent/ended/turn/1'].map((id) => start(WORKFLOWS.turn, id)),
    ...[`exec/cli/${MARK}/0`, `exec/cli/${MARK}/9`, QUIET].map((id) => start(WORKFLOWS.execSession, id)),
    start(WORKFLOWS.execSession, `exec/asker/${MARK}/0`, 'asker'),
    start(WORKFLOWS.agent, 'agent/talker', 'talker'),
    start(WORKFLOWS.turn, TALK, 'talker'),
    start(WORKFLOWS.execSession, `exec/talker/${MARK}/0`, 'talker'),
    start(WORKFLOWS.host, `host/${MARK}`),
    start(WORKFLOWS.agent, 'agent/terminated').then(() =>
      client.workflow.getHandle('agent/terminated').terminate(HOSTILE_NAME),
    ),
  ]);
  process.setMaxListeners(200);
}, 60_000);
afterAll(async () => {
  await worker.close();
  await client.connection.close();
  rmSync(scratch, { recursive: true, force: true });
});

interface Shown {
  stdout: string;
  stderr: string;
}

/** Returns the function that undoes it. */
function overriding(object: object, key: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(object, key);
  Object.defineProperty(object, key, { value, configurable: true, writable: true });
  return () => (before ? Object.defineProperty(object, key, before) : Reflect.deleteProperty(object, key));
}

/** The command line in this process, with its guard on: what the terminal or the pipe gets. */
async function shownBy(line: Line, tty: boolean, json: boolean): Promise<Shown> {
  const shown: Shown = { stdout: '', stderr: '' };
  const input = new PassThrough();
  const writeTo =
    (name: keyof Shown) =>
    (chunk: string, ...rest: unknown[]): boolean => {
      shown[name] += chunk;
      for (const done of rest) if (typeof done === 'function') (done as () => void)();
      return true;
    };
  const undo = [
    overriding(process, 'stdin', input),
    ...(['stdout', 'stderr'] as const).flatMap((name) => [
      overriding(process[name], 'isTTY', tty),
      overriding(process[name], 'write', writeTo(name)),
    ]),
  ];
  const { inputEnds } = line;
  input.write(line.input ?? '');
  const ending = until(() => !inputEnds || inputEnds.test(shown.stdout)).then(() => input.end());
  try {
    guardOutput();
    await runCommandLine(['node', 'holdfast', ...argumentsOf(line), ...(json ? ['--json'] : [])]);
    await ending;
  } finally {
    for (const restore of undo) restore();
  }
  return shown;
}

function argumentsOf({ args, isAlone, data = bare }: Line): string[] {
  const given = args.map((arg) => arg.replace(/KEY$/, uniqueId('key')));
  if (['check', 'completion'].includes(args[0] ?? '')) return given;
  const server = isAlone ? [] : ['--address', testAddress(), '--namespace', namespace];
  return [...given, '--data', data, ...server];
}

/** Whether it shows what the worker answers. */
const asks = ({ args, isAlone, isSlow }: Line): boolean =>
  !isAlone && !isSlow && !args.some((arg) => [HOSTILE, HOSTILE_NAME].includes(arg));

/** Whether it prints what a session has printed, by what the other side of stdout is. */
const isStream = ({ isOutput, isSlow }: Line): boolean => Boolean(isOutput && !isSlow);

type Setting = [where: string, tty: boolean, json: boolean, how: Answers, isMeant: (line: Line) => boolean];
const SETTINGS: Setting[] = [
  ['on a terminal', true, false, 'typed', () => true],
  ['as JSON', true, true, 'untyped', () => true],
  ['on a terminal where no answer keeps to its type', true, false, 'untyped', asks],
  ['in a pipe', false, false, 'typed', isStream],
  ['in a pipe where nothing but failures comes', false, false, 'refusing', isStream],
];
/** In the long run: the others have these texts, each in one of the two ways. */
const LATER = [
  'on a terminal where no answer keeps to its type',
  'in a pipe where nothing but failures comes',
];
/** They see only a stray folder, which is no session; the next ones read most of an answer. */
const STRAY = ['down', 'gc'];
const DEEPEST = ['approve', 'ps', 'chat', 'host show', 'exec'];
const ROWS = Object.entries(TABLE).flatMap(([command, lines]) =>
  SETTINGS.map(([where, tty, json, hostility, isMeant]) => {
    const meant = lines.filter(isMeant);
    return { command, where, tty, json, hostility, lines: meant };
  }).filter(({ lines: meant }) => meant.length > 0),
);

testEachOf(ROWS, ({ where, command }) => !LATER.includes(where) || DEEPEST.includes(command))(
  'what others have written is inert in what `holdfast $command` shows $where',
  async ({ command, where, tty, json, hostility, lines }) => {
    how = hostility;
    let all = '';
    for (const line of lines) {
      for (const workflowId of line.ends ?? []) await start(typeOf(workflowId), workflowId);
      const { stdout, stderr } = await shownBy(line, tty, json);
      expect(active(stdout, { tty, ...line })).toBe('');
      expect(active(stderr, { tty })).toBe('');
      if (json || command === 'mcp') expectJson(stdout + stderr);
      all += stdout + stderr;
    }
    // Some of it was there to be made inert, and what keeps to no type is not stumbled over.
    if (where === 'on a terminal' || json) expect(/evil|said/.test(all)).toBe(!STRAY.includes(command));
    expect(all).not.toMatch(/Cannot read|is not (?:a function|iterable)/);
  },
);

/** The same values: readers of JSON get what was written. */
function expectJson(printed: string): void {
  for (const line of printed.split('\n').filter((one) => one.startsWith('{') || one.startsWith('['))) {
    const again = JSON.stringify(JSON.parse(line));
    expect([again.includes(MARK), again.includes('\\\\u{')]).toEqual([line.includes(MARK), false]);
  }
}

/** Cursor, erasing and pasting, as our own screens draw; none of it is in what is hostile. */
// eslint-disable-next-line no-control-regex -- control characters are the point
const DRAWN = /\x1b\[(?:\d*[A-DG]|0?[JK]|H|\?2004[hl])|\r|^\x1b\[2J/g;
const drawn = ({ text }: Person): string => active(text.replace(DRAWN, ''), { tty: true });
const inTerminal = (command: string, ...args: string[]): Person =>
  new Person(bare, argumentsOf({ args }), { command });

test('what others have written is inert in the screen of a chat, in its status and in what its commands show', async () => {
  how = 'typed';
  const person = inTerminal('chat', '--agent', 'talker');
  await person.sees('an approval: evil');
  person.types('/tree\r');
  await person.sees('└─');
  person.types('/attach x\r');
  await person.sees('The session is invalid');
  person.types('/quit\r');
  expect(await person.exits()).toBe(0);
  expect(drawn(person)).toBe('');
});

test('what others have written is inert where it is redrawn continuously', async () => {
  how = 'typed';
  const person = inTerminal('ps', '--watch');
  await person.sees(`agent/${MARK}`);
  person.signals('SIGINT');
  expect(await person.exits()).toBe(130);
  expect(drawn(person)).toBe('');
});
