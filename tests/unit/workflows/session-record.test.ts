import type { ExecRequest, InputRequest } from '../../../contracts/schemas/session';
import { DEFAULT_YIELD, type CommandView } from '../../../contracts/sessions/session';
import { jsonBytes } from '../../../contracts/payload-size';
import { SessionIds } from '../../../workflows/session/session-ids';
import {
  lastView,
  newSessionRecord,
  recordRefusal,
  sessionState,
  showView,
  withFittingGrants,
  workStateOf,
  type CarriedSession,
  type CommandGrant,
  type RunningCommand,
  type SessionRecord,
} from '../../../workflows/session/session-record';

const ref = { agent: 'a', host: 'h', session: 1 };
const record = (changes: Partial<SessionRecord> = {}): SessionRecord => ({
  ...newSessionRecord(ref, {}),
  ...changes,
});
const command = (changes: Partial<RunningCommand> = {}): RunningCommand => ({
  id: 'c',
  runtime: 'terminal',
  code: 'ls',
  startedAt: 0,
  yield: DEFAULT_YIELD,
  yielded: null,
  resets: 0,
  ...changes,
});
const view = (changes: Partial<CommandView> = {}): CommandView => ({
  session: 1,
  commandId: 'c',
  state: 'running',
  exitCode: null,
  signal: null,
  killedBy: null,
  output: '',
  from: 0,
  to: 10,
  omittedBytes: 0,
  degraded: null,
  survivors: [],
  epoch: 1,
  freshShell: false,
  yielded: null,
  waiting: null,
  treeKill: 'process-search',
  durationMs: 0,
  ...changes,
});

test('a record is plain JSON, so that it survives continue-as-new', () => {
  const full = record({ command: command({ yielded: view() }) });
  showView(full, view(), 'me');
  new SessionIds(full).rememberInput('i', { keyboard: 'x' });
  recordRefusal(full, 'no');
  expect(JSON.parse(JSON.stringify(full))).toEqual(full);
});

test.each([
  [{}, { cwd: null, idleMs: 86_400_000, yield: DEFAULT_YIELD }],
  [
    { cwd: '/x', idleMs: 0 },
    { cwd: '/x', idleMs: 0 },
  ],
  [{ yield: { maxMs: 5 } }, { yield: { ...DEFAULT_YIELD, maxMs: 5 } }],
])('the input %j begins with its settings and the defaults for the rest', (input, expected) => {
  expect(newSessionRecord(ref, input)).toMatchObject({ ref, command: null, view: null, ...expected });
});

describe('inputs', () => {
  const text = (keyboard: string): InputRequest => ({ keyboard });

  test('are new once', () => {
    const ids = new SessionIds(record());
    expect(['a', 'b', 'a'].map((id) => ids.rememberInput(id, text('x')))).toEqual([true, true, false]);
  });

  test('that were refused may be sent again, even with other content', () => {
    const ids = new SessionIds(record());
    ids.rememberInput('a', text('x'));
    ids.forgetInput('a');
    ids.checkInput('a', text('y'));
    expect(ids.rememberInput('a', text('y'))).toBe(true);
  });

  test('that the host had not answered when their run ended are sent once more by the next run', () => {
    const r = record();
    const ids = new SessionIds(r);
    for (const id of ['open', 'answered']) {
      ids.rememberInput(id, text('x'));
      ids.inputBegins(id);
    }
    ids.inputEnds('answered');
    expect(ids.rememberInput('open', text('x'))).toBe(false);
    const next = new SessionIds(JSON.parse(JSON.stringify(r)) as SessionRecord);
    expect(['open', 'answered'].map((id) => next.rememberInput(id, text('x')))).toEqual([true, false]);
    next.inputBegins('open');
    expect(next.rememberInput('open', text('x'))).toBe(false);
    next.inputEnds('open');
    expect(next.rememberInput('open', text('x'))).toBe(false);
  });

  test('are remembered in a bounded list, the latest 500', () => {
    const r = record();
    const ids = new SessionIds(r);
    for (let i = 0; i < 2_000; i++) ids.rememberInput(`i${i}`, text('x'));
    expect(r.inputIds).toHaveLength(500);
    expect(['i1999', 'i1500'].map((id) => ids.rememberInput(id, text('x')))).toEqual([false, false]);
  });
});

describe('an id that was used before', () => {
  const refused = expect.objectContaining({ type: 'id_conflict' }) as unknown;
  const thrown = (work: () => void): unknown => {
    try {
      work();
    } catch (err) {
      return err;
    }
    return undefined;
  };

  test.each<[string, ExecRequest, ExecRequest, boolean]>([
    ['the same code', { code: 'a' }, { code: 'a' }, false],
    ['a default that is said', { code: 'a' }, { code: 'a', runtime: 'terminal', reset: false }, false],
    ['another wait', { code: 'a' }, { code: 'a', yield: { maxMs: 1 }, reader: 'me' }, false],
    ['other code', { code: 'a' }, { code: 'b' }, true],
    ['another runtime', { code: 'a' }, { code: 'a', runtime: 'python' }, true],
    ['a reset', { code: 'a' }, { code: 'a', reset: true }, true],
  ])('for a command and arrives with %s', (_what, before, again, isRefused) => {
    const r = record();
    new SessionIds(r).rememberCommand('constructor', before);
    const ids = new SessionIds(JSON.parse(JSON.stringify(r)) as SessionRecord);
    const err = thrown(() => ids.checkCommand('constructor', again));
    expect(err).toEqual(isRefused ? refused : undefined);
  });

  test('for an input is refused with other content', () => {
    const ids = new SessionIds({ ...record(), inputIds: [{ id: 'new', hash: 'of something else' }] });
    expect(thrown(() => ids.checkInput('new', { keyboard: 'x' }))).toEqual(refused);
  });
});

describe('readers', () => {
  test('are remembered with how far they were given output', () => {
    const r = record();
    showView(r, view({ to: 5 }), 'one');
    showView(r, view({ to: 7 }), 'two');
    showView(r, view({ to: 9 }));
    expect(r.readers).toEqual({ one: 5, two: 7 });
    expect(r.view?.to).toBe(9);
  });

  test('are remembered in a bounded list', () => {
    const r = record();
    for (let i = 0; i < 100; i++) showView(r, view({ to: i }), `reader-${i}`);
    expect(Object.keys(r.readers)).toHaveLength(16);
    expect(r.readers['reader-99']).toBe(99);
  });
});

test('refusals are remembered in a bounded list, the latest', () => {
  const r = record();
  for (let i = 0; i < 100; i++) recordRefusal(r, `no ${i}`);
  expect(r.refused).toEqual(['no 95', 'no 96', 'no 97', 'no 98', 'no 99']);
});

describe('the state', () => {
  test.each<[string, Partial<SessionRecord>, 'open' | 'draining' | 'closed', string]>([
    ['idle without a command', {}, 'open', 'idle'],
    ['idle after a command', { view: view({ state: 'exited' }) }, 'open', 'idle'],
    ['running before the first view', { command: command() }, 'open', 'running'],
    ['running with a view of it', { command: command(), view: view() }, 'open', 'running'],
    [
      'waiting_input when its view says so',
      { command: command(), view: view({ state: 'waiting_input' }) },
      'open',
      'waiting_input',
    ],
    [
      'running when an older command waited',
      { command: command({ id: 'd' }), view: view({ state: 'waiting_input' }) },
      'open',
      'running',
    ],
    ['idle when an ended command had waited', { view: view({ state: 'waiting_input' }) }, 'open', 'idle'],
    ['draining whatever runs', { command: command() }, 'draining', 'draining'],
    ['closed', { view: view() }, 'closed', 'closed'],
  ])('is %s', (_title, changes, phase, status) => {
    expect(sessionState(record(changes), phase)).toMatchObject({ ...ref, status });
  });

  test('gives the command without its code, its time as ISO text, and the epoch of the last view', () => {
    const state = sessionState(
      record({ command: command({ startedAt: 1_000 }), view: view({ epoch: 4 }) }),
      'open',
    );
    expect(state).toMatchObject({
      epoch: 4,
      command: { id: 'c', runtime: 'terminal', startedAt: '1970-01-01T00:00:01.000Z' },
    });
    expect(Object.keys(state.command ?? {})).not.toContain('code');
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });
});

describe('the last view', () => {
  const held = { waiting: [{ id: 'c' }], answers: {}, cleared: [] } as unknown as NonNullable<
    SessionRecord['approvals']
  >;

  test('is null where no command has run, and none of a command that waits for its approval', () => {
    expect(lastView(record())).toBeNull();
    expect(lastView(record({ command: command(), approvals: held }))).toBeNull();
  });

  test('says that a command runs before the host has reported on it, from where the last one ended', () => {
    expect(lastView(record({ command: command() }))).toMatchObject({ state: 'running', to: 0, unseen: true });
    const before = view({ commandId: 'before', state: 'exited', exitCode: 3, to: 70, epoch: 4 });
    expect(lastView(record({ command: command(), view: before }))).toMatchObject({
      ...{ commandId: 'c', state: 'running', exitCode: null, output: '', from: 70, to: 70, epoch: 4 },
      unseen: true,
    });
  });

  test('is the recorded one of the same command, also after its end', () => {
    const seen = view({ state: 'waiting_input' });
    expect(lastView(record({ command: command(), view: seen }))).toBe(seen);
    expect(lastView(record({ view: seen }))).toBe(seen);
  });

  test.each<[string, Partial<SessionRecord>, [string, string]]>([
    ['nothing runs', {}, ['idle', 'none']],
    ['a command is within its yield', { command: command() }, ['idle', 'none']],
    ['a command outlived its yield', { command: command({ yielded: view() }) }, ['running', 'none']],
    [
      'a program waits for input',
      { command: command(), view: view({ state: 'waiting_input' }) },
      ['waiting_input', 'input'],
    ],
    ['a command is held', { command: command(), approvals: held }, ['waiting_approval', 'approval']],
    ['a background script’s call is held', { approvals: held }, ['idle', 'approval']],
  ])('for lists, where %s', (_, changes, [state, waitsFor]) => {
    expect(workStateOf(record(changes))).toEqual({ state, waitsFor });
  });
});

describe('the grants of commands', () => {
  const grant = (index: number, names: number): CommandGrant => ({
    commandId: `c${index}`,
    used: 0,
    allowed: Array.from({ length: names }, (_, n) => `t${n}`.padEnd(64, '_')),
  });
  const carriedOf = (changes: Partial<CarriedSession>): CarriedSession => ({
    ...newSessionRecord(ref, {}),
    calls: {},
    ...changes,
  });
  const grants = (names: number): CommandGrant[] => Array.from({ length: 32 }, (_, n) => grant(n, names));

  test('are all carried if they fit', () => {
    const carried = carriedOf({ grants: grants(500) });
    expect(withFittingGrants(carried)).toEqual(carried);
  });

  test('fit into one payload with queued inputs however many tools they name: the oldest are left out', () => {
    const queuedInputs = [{ inputId: 'i', text: 'x'.repeat(1_000_000), keys: [] }];
    const carried = withFittingGrants(carriedOf({ grants: grants(1_000), queuedInputs }));
    expect(jsonBytes(carried)).toBeLessThan(2_000_000);
    const kept = carried.grants?.map(({ commandId }) => commandId) ?? [];
    expect(kept.length).toBeGreaterThan(10);
    expect(kept).toEqual(
      grants(0)
        .slice(-kept.length)
        .map(({ commandId }) => commandId),
    );
  });

  test('are carried for the last command, whatever else is', () => {
    const queuedInputs = [{ inputId: 'i', text: 'x'.repeat(2_000_000), keys: [] }];
    expect(withFittingGrants(carriedOf({ grants: grants(1), queuedInputs })).grants).toEqual([grant(31, 1)]);
  });
});
