// What a host's activities say of the effect of what they could not do, and what of it Temporal tries again: with real
// sessions, at a first attempt and at a later one.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompleteAsyncError } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { CommandCompletion } from '../../../../activities/host/command-completion';
import { createHostActivities, type HostDependencies } from '../../../../activities/host/host-activities';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import { fromFailure, WORKER_LOST } from '../../../../contracts/errors/failure';
import type {
  HostActivities,
  RunCommandInput,
  SendInputInput,
  Yielded,
} from '../../../../contracts/sessions/host';
import { DEFAULT_YIELD } from '../../../../contracts/sessions/session';
import { AuditLog } from '../../../../exec/host/audit-log';
import { HostAccess } from '../../../../exec/host/host-access';
import { processStat } from '../../../../system/processes/proc';
import { SessionHost } from '../../../../exec/host/session-host';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import { holderRecord } from '../../../helpers/terminals/holder-record';

const CLAIMED_AT = 1_000;
const AT_ONCE = { ...DEFAULT_YIELD, firstOutputMs: 0, betweenOutputMs: 0 };

let t: TestHost;
let access: HostAccess;
/** Commands that are seen to their ends. */
let watched: string[];
let stopped: number[];
beforeEach(() => {
  t = testHost();
  access = new HostAccess(t.dataDir, 'local');
  watched = [];
  stopped = [];
});
afterEach(async () => {
  for (const pid of stopped) if (processStat(pid)) process.kill(pid, 'SIGCONT');
  await t.end();
});

function activities(given: Partial<HostDependencies> = {}): HostActivities {
  const parts = {
    host: 'local',
    ownership: { folderId: 'ours', since: CLAIMED_AT, confirm: () => Promise.resolve() },
    sessions: t.host,
    completion: {
      start: (_: Uint8Array, { commandId }: RunCommandInput) => void watched.push(commandId),
      noteView: () => undefined,
    },
    channel: { serve: () => undefined },
    access,
    audit: new AuditLog(t.dataDir, 'local', () => undefined),
    gate: { held: () => Promise.resolve(null) },
    client: {},
  };
  return createHostActivities({ ...parts, ...given } as unknown as HostDependencies);
}

type Input<K extends keyof HostActivities> = Parameters<HostActivities[K]>[0];

/** At an attempt that was handed out just now. */
function at<K extends keyof HostActivities>(
  attempt: number,
  name: K,
  input: Input<K>,
  of = activities(),
): ReturnType<HostActivities[K]> {
  const now = Date.now();
  const times = { scheduledTimestampMs: now, currentAttemptScheduledTimestampMs: now };
  const activity = (given: Input<K>): Promise<unknown> => of[name](given as never);
  const logger = new DefaultLogger('ERROR');
  const run = new MockActivityEnvironment({ attempt, ...times }, { logger }).run(activity, input);
  return run as ReturnType<HostActivities[K]>;
}

/** What a caller learns, and that Temporal does not retry it. */
async function told(call: Promise<unknown>): Promise<Pick<HoldfastError, 'code' | 'effect' | 'message'>> {
  const failure: unknown = await call.then(
    () => undefined,
    (err: unknown) => err,
  );
  if (!(failure instanceof ApplicationFailure)) throw new Error(`no failure of ours: ${String(failure)}`);
  expect(failure.nonRetryable).toBe(true);
  return fromFailure(failure) as HoldfastError;
}

const command = (code: string, given: Partial<RunCommandInput> = {}): RunCommandInput => ({
  ...{ ref: t.ref, workflowId: 'exec/test/local/0', cwd: null, commandId: 'one' },
  ...{ runtime: 'terminal', code, yield: AT_ONCE, ...given },
});
const input = (given: Partial<SendInputInput> = {}): SendInputInput => ({
  ...{ ref: t.ref, inputId: 'i', text: 'yes', keys: [], from: null, yield: null, ...given },
});

async function stop(): Promise<number> {
  const { pid } = holderRecord(t, t.ref).identity;
  stopped.push(pid);
  process.kill(pid, 'SIGSTOP');
  await until(() => processStat(pid)?.state === 'T');
  return pid;
}

const REFUSED: [what: string, code: string, call: (attempt: number) => Promise<unknown>][] = [
  ['an input that no process takes', 'no_running_process', (n) => at(n, 'sendInput', input())],
  [
    'an input that the host’s access forbids',
    'read_only_host',
    (n) => (access.set('read-only'), at(n, 'sendInput', input())),
  ],
  [
    'a command that the host’s access forbids',
    'read_only_host',
    (n) => (access.set('read-only'), at(n, 'runCommand', command('touch ran'))),
  ],
  [
    'a session that must not be opened',
    'execution_disabled',
    (n) => (access.set('off'), at(n, 'openSession', { ref: t.ref, cwd: null })),
  ],
];

test.each(REFUSED)('of %s a first attempt says %s, and that nothing was done', async (_what, code, call) => {
  expect(await told(call(1))).toMatchObject({ code, effect: 'none' });
});

test('an unforeseen error of a command, which is tried once, is told as an error of the catalogue', async () => {
  const gate = { held: () => Promise.reject(new TypeError('unforeseen')) } as never;
  expect(await told(at(1, 'runCommand', command('touch ran'), activities({ gate })))).toMatchObject({
    ...{ code: 'internal', effect: 'possible' },
    message: expect.stringContaining('unforeseen') as string,
  });
});

test.each(REFUSED)(
  'of %s a later attempt says (%s) that it is unknown what an earlier one did',
  async (_what, code, call) => {
    const { message, ...rest } = await told(call(2));
    expect(rest).toMatchObject({ code: 'unknown_outcome', effect: 'possible' });
    expect(message).toContain(
      `an earlier attempt may have been carried out, and this one was refused (${code})`,
    );
  },
);

test('looks, and what only ends something, keep their own error at a later attempt', async () => {
  const elsewhere = { ...t.ref, host: 'other' };
  const request = { from: null, maxBytes: null, wait: null, waitMs: 0 };
  const ends = { ref: elsewhere, resetId: 'r', reason: null };
  expect(await told(at(2, 'resetSession', ends))).toMatchObject({ code: 'foreign_session' });
  expect(await told(at(2, 'closeSession', ends))).toMatchObject({ code: 'foreign_session' });
  access.set('off');
  expect(await told(at(2, 'readOutput', { ref: t.ref, ...request }))).toMatchObject({
    code: 'execution_disabled',
    effect: 'none',
  });
});

test('an error that promises nothing of the effect is passed on as it is, and is on record', async () => {
  const moved = { ...t.ref, folderId: 'theirs' };
  const { code, effect } = await told(at(2, 'sendInput', input({ ref: moved })));
  expect([code, effect]).toEqual(['session_elsewhere', 'possible']);
  expect(readFileSync(join(t.dataDir, 'audit.local.jsonl'), 'utf8')).toMatch(/"why":"session_elsewhere"/);
});

test.each([
  [1, /^Session 0 has no running process/],
  [2, /^It is unknown whether the input took effect/],
])(
  'of signalled inputs, attempt %i reports each that was refused as far as is known',
  async (attempt, says) => {
    const inputs = [1, 2].map((n) => ({ inputId: `i${n}`, text: 'x', keys: [] }));
    await t.run(':');
    const { refused } = await at(attempt, 'sendInputs', { ref: t.ref, inputs });
    expect(refused).toEqual([expect.stringMatching(says), expect.stringMatching(says)]);
  },
);

describe('a command that has begun', () => {
  const CODE = 'echo ran >> runs; sleep 1000';
  const begin = async (): Promise<void> => {
    await expect(at(1, 'runCommand', command(CODE))).rejects.toThrow(CompleteAsyncError);
    // Not only that it exists: the shell creates the file before it writes.
    await until(() => existsSync(join(t.cwd, 'runs')) && readFileSync(join(t.cwd, 'runs'), 'utf8') !== '');
  };
  const again = (given: Partial<RunCommandInput> = {}): Promise<unknown> =>
    at(2, 'runCommand', command(CODE, given));

  test.each([
    ['the access is taken away', async (): Promise<void> => access.set('off')],
    ['its holder is stopped', async (): Promise<void> => void (await stop())],
  ])('is followed to its end when %s, and does not run again', async (_what, change) => {
    await begin();
    await change();
    await expect(again()).rejects.toThrow(CompleteAsyncError);
    expect(watched).toEqual(['one', 'one']);
    expect(readFileSync(join(t.cwd, 'runs'), 'utf8')).toBe('ran\n');
  });

  test('is found by this data folder however old it is; one that another folder may have run is unknown', async () => {
    await begin();
    await expect(again({ resentSince: CLAIMED_AT - 1 })).rejects.toThrow(CompleteAsyncError);
    const other = command('echo ran >> others', { commandId: 'two', resentSince: CLAIMED_AT - 1 });
    expect(await told(at(1, 'runCommand', other))).toMatchObject({ code: 'unknown_outcome' });
    expect(existsSync(join(t.cwd, 'others'))).toBe(false);
  });

  test('is reported to its callers as one that may have had an effect, by a worker that finds its holder stopped', async () => {
    await begin();
    await stop();
    const signals: Yielded[] = [];
    const ended: unknown[] = [];
    const client = {
      options: { namespace: 'default' },
      workflow: {
        getHandle: () => ({ signal: async (_: string, said: Yielded) => void signals.push(said) }),
      },
      activity: {
        complete: async (_: Uint8Array, view: unknown) => void ended.push(view),
        heartbeat: async () => undefined,
      },
    } as unknown as Client;
    const sessions = new SessionHost(t.host.options);
    const journal = join(t.dataDir, 'commands');
    const log = (): void => undefined;
    const completion = new CommandCompletion(client, sessions, { journal, folderId: 'ours', log });
    void completion.start(
      { taskToken: new Uint8Array([1]), activityId: '1', workflowExecution: undefined },
      command(CODE),
    );
    await until(() => signals.length > 0);
    const { code, facts } = signals[0]?.trouble ?? {};
    expect(HoldfastError.received(code ?? 'internal', facts)).toMatchObject({
      code: 'session_unreachable',
      effect: 'possible',
      message: expect.stringContaining('its command had already begun') as string,
    });
    process.kill(stopped[0] ?? 0, 'SIGCONT');
    await until(() => signals.some(({ trouble }) => trouble === null));
    await t.host.reset(t.ref, { id: 'r', reason: null, by: 'reset' });
    await until(() => ended.length > 0);
    expect(ended).toMatchObject([{ state: 'exited', killedBy: { by: 'reset' } }]);
    completion.detach();
    sessions.detach();
  });
});

describe('a command that was accepted before a reset of its session', () => {
  /** The checks take until they are let go. */
  function slowlyChecked(): { of: HostActivities; letGo: () => void } {
    let letGo = (): void => undefined;
    const checked = new Promise<null>((resolve) => (letGo = () => resolve(null)));
    const gate = { held: ({ code }: RunCommandInput) => (code.includes('slow') ? checked : null) };
    return { of: activities({ gate: gate as never }), letGo };
  }
  const reset = (number: number | undefined, of: HostActivities, resetId = `r${number}`): Promise<unknown> =>
    at(1, 'resetSession', { ref: t.ref, resetId, reason: 'not that', ...(number && { number }) }, of);
  const next = (given: Partial<RunCommandInput> = {}): RunCommandInput =>
    command('touch next; sleep 1000', { commandId: 'next', resets: 1, ...given });

  test('does not begin after it, and says why', async () => {
    const { of, letGo } = slowlyChecked();
    const slow = told(at(1, 'runCommand', command('touch slow', { resets: 0 }), of));
    await reset(1, of);
    letGo();
    expect(await slow).toMatchObject({
      code: 'not_begun',
      effect: 'none',
      message: expect.stringContaining('the session was reset: not that') as string,
    });
    await expect(at(1, 'runCommand', next(), of)).rejects.toThrow(CompleteAsyncError);
    expect(watched).toEqual(['next']);
    expect(existsSync(join(t.cwd, 'slow'))).toBe(false);
  });

  test.each([
    ['does not begin after the command that', { reset: false }],
    [
      'ends nothing, and does not begin, if it should reset the session itself, after the one that',
      { reset: true },
    ],
  ])('%s took its place', async (_what, given) => {
    const { of, letGo } = slowlyChecked();
    const resets = given.reset ? 1 : 0;
    const slow = told(at(1, 'runCommand', command('touch slow', { ...given, resets }), of));
    const taking = next({ reset: true, resets: resets + 1 });
    await expect(at(1, 'runCommand', taking, of)).rejects.toThrow(CompleteAsyncError);
    letGo();
    expect(await slow).toMatchObject({ code: 'not_begun', effect: 'none' });
    expect((await t.host.status(t.ref)).command).toMatchObject({ id: 'next', endedAt: null });
    expect(existsSync(join(t.cwd, 'slow'))).toBe(false);
  });

  test('is not refused for a repetition of an earlier reset, nor for one that was not numbered', async () => {
    const { of, letGo } = slowlyChecked();
    await reset(1, of);
    const slow = at(1, 'runCommand', command('touch slow', { resets: 1 }), of);
    await reset(undefined, of, 'r1');
    letGo();
    await expect(slow).rejects.toThrow(CompleteAsyncError);
    await until(() => existsSync(join(t.cwd, 'slow')));
  });
});

test('a command that a stopped holder never got was not run, and the same id runs it later', async () => {
  await t.run(':');
  const pid = await stop();
  const { code, effect } = await told(at(1, 'runCommand', command('touch ran')));
  expect([code, effect, watched]).toEqual(['session_unreachable', 'none', []]);
  process.kill(pid, 'SIGCONT');
  await expect(at(1, 'runCommand', command('touch ran'))).rejects.toThrow(CompleteAsyncError);
  await until(() => existsSync(join(t.cwd, 'ran')));
});

test.each([
  ['an input', (of: HostActivities) => at(1, 'sendInput', input({ yield: AT_ONCE }), of)],
  ['a signalled input', (of: HostActivities) => at(1, 'sendInputs', { ref: t.ref, inputs: [input()] }, of)],
])('%s that was typed is not denied when its holder stops before it is checked', async (_what, call) => {
  await t.run('cat > typed', { yield: { firstOutputMs: 0 } });
  const stopping = Object.create(t.host) as SessionHost;
  stopping.input = async (...args): ReturnType<SessionHost['input']> => {
    const typed = await t.host.input(...args);
    await stop();
    return typed;
  };
  const { code, effect, message } = await told(call(activities({ sessions: stopping })));
  expect([code, effect]).toEqual(['session_unreachable', 'possible']);
  expect(message).toMatch(/had already been typed/);
  expect(message).not.toMatch(/nothing was/);
  process.kill(stopped[0] ?? 0, 'SIGCONT');
  await until(() => readFileSync(join(t.cwd, 'typed'), 'utf8') === 'yes\n');
});

describe('what is left to Temporal to retry', () => {
  const failing = (err: Error): SessionHost => {
    const sessions = Object.create(t.host) as SessionHost;
    sessions.status = () => Promise.reject(err);
    return sessions;
  };
  const look = (of: HostActivities): Promise<unknown> =>
    at(1, 'readOutput', { ref: t.ref, from: null, maxBytes: null, wait: null, waitMs: 0 }, of);

  test('is a fault of ours', async () => {
    const bug = new TypeError('x is not a function');
    await expect(look(activities({ sessions: failing(bug) }))).rejects.toBe(bug);
  });

  test('is a host that this worker has lost: nothing is looked at, and no error of ours is made of it', async () => {
    const lost = ApplicationFailure.create({ type: WORKER_LOST, message: 'lost', nextRetryDelay: 250 });
    const ownership = { folderId: 'ours', since: CLAIMED_AT, confirm: () => Promise.reject(lost) };
    const sessions = failing(new Error('it was looked at'));
    await expect(look(activities({ ownership, sessions }))).rejects.toBe(lost);
    expect(lost.nonRetryable).toBe(false);
  });

  test('does not include what the system refuses: that is reported at once', async () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    expect(await told(look(activities({ sessions: failing(full) })))).toMatchObject({
      code: 'storage_failed',
      effect: 'possible',
    });
  });
});
