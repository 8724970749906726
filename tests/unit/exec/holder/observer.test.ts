import { Changes } from '../../../../exec/holder/changes';
import { whenDecided } from '../../../../exec/holder/waiting/when-decided';
import { decide, type Facts } from '../../../../exec/holder/waiting/observer';
import type { Until } from '../../../../exec/protocol';

const SETTINGS = { firstOutputMs: 30, betweenOutputMs: 15, maxMs: 180, promptMs: 5 };
const YIELD: Until = { kind: 'yield', settings: SETTINGS };

/** A command that began at 1,000 and has printed nothing. */
const facts = (changes: Partial<Facts>): Facts => ({
  now: 1_000,
  running: true,
  startedAt: 1_000,
  lastOutputAt: 0,
  end: 0,
  waiting: null,
  waitingSince: 0,
  promptIsBack: false,
  observedSince: 1_000,
  ...changes,
});

const certain = { echo: true, certainty: 'certain' } as const;
const likely = { echo: true, certainty: 'likely' } as const;
const hint = { echo: true, certainty: 'hint' } as const;

describe('a yield', () => {
  test.each<[string, Partial<Facts>, object]>([
    ['is an exit when the command has ended', { running: false }, { reason: 'exit' }],
    ['is an exit though it waited', { running: false, waiting: certain }, { reason: 'exit' }],
    ['waits for the first output', {}, { at: 1_030 }],
    ['comes for silence from the beginning', { now: 1_030 }, { reason: 'first_output' }],
    ['does not come a moment before', { now: 1_029 }, { at: 1_030 }],
    [
      'does not count output of an earlier command',
      { now: 1_030, lastOutputAt: 999 },
      { reason: 'first_output' },
    ],
    [
      'comes at once when a program that probably waits is back at its prompt',
      { now: 1_001, waiting: likely, waitingSince: 1_001, promptIsBack: true },
      { reason: 'waiting_input' },
    ],
    ['does not come for a prompt that nobody reads', { promptIsBack: true }, { at: 1_030 }],
    ['waits for more after output', { now: 1_010, lastOutputAt: 1_010 }, { at: 1_025 }],
    ['comes for silence after output', { now: 1_025, lastOutputAt: 1_010 }, { reason: 'between_output' }],
    [
      'comes at the maximum time even if output continues',
      { now: 1_180, lastOutputAt: 1_179 },
      { reason: 'max' },
    ],
    ['looks no later than the longest time', { now: 1_170, lastOutputAt: 1_170 }, { at: 1_180 }],
    [
      'comes at once for a certain wait',
      { waiting: certain, waitingSince: 1_000 },
      { reason: 'waiting_input' },
    ],
    ['gives a likely wait its time', { now: 1_001, waiting: likely, waitingSince: 1_001 }, { at: 1_006 }],
    [
      'comes for a likely wait after its time',
      { now: 1_006, waiting: likely, waitingSince: 1_001 },
      { reason: 'waiting_input' },
    ],
    [
      'comes for a hint after its time',
      { now: 1_006, waiting: hint, waitingSince: 1_001 },
      { reason: 'waiting_input' },
    ],
    [
      'says silence when that came before the likely wait',
      { now: 1_030, waiting: likely, waitingSince: 1_029 },
      { reason: 'first_output' },
    ],
  ])('%s', (_title, changes, outcome) => {
    expect(decide(YIELD, facts(changes))).toEqual(outcome);
  });

  test('counts from when it was asked for, where that is later than the beginning', () => {
    const until: Until = { ...YIELD, sinceMs: 1_100 };
    expect(decide(until, facts({ now: 1_100 }))).toEqual({ at: 1_130 });
    expect(decide(until, facts({ now: 1_100, lastOutputAt: 1_099 }))).toEqual({ at: 1_130 });
    expect(decide(until, facts({ now: 1_110, lastOutputAt: 1_105 }))).toEqual({ at: 1_120 });
    expect(decide(until, facts({ now: 1_280, lastOutputAt: 1_279 }))).toEqual({ reason: 'max' });
  });

  test.each([
    ['maxMs', { ...SETTINGS, maxMs: 0 }, 'max'],
    ['firstOutputMs', { ...SETTINGS, firstOutputMs: 0 }, 'first_output'],
  ])('with %s of zero comes at once', (_name, settings, reason) => {
    expect(decide({ kind: 'yield', settings }, facts({}))).toEqual({ reason });
  });
});

describe('a wait', () => {
  const wait = (kind: 'exit' | 'output' | 'idle' | 'needs_input', from = 0): Until => ({
    kind,
    from,
    timeoutMs: 5_000,
  });

  test.each<[string, Until, Partial<Facts>, object]>([
    ['for the exit ends with it', wait('exit'), { running: false }, { reason: 'exit' }],
    [
      'for the exit continues through output and silence',
      wait('exit'),
      { now: 4_000, end: 9, lastOutputAt: 1_001 },
      { at: 6_000 },
    ],
    ['for the exit goes on over a certain wait', wait('exit'), { waiting: certain }, { at: 6_000 }],
    [
      'for output ends with the first byte after its offset',
      wait('output', 5),
      { end: 6 },
      { reason: 'output' },
    ],
    ['for output goes on at its offset', wait('output', 5), { end: 5 }, { at: 6_000 }],
    ['for output ends with the exit', wait('output', 5), { end: 5, running: false }, { reason: 'exit' }],
    [
      'for input ends with a certain wait',
      wait('needs_input'),
      { waiting: certain },
      { reason: 'waiting_input' },
    ],
    [
      'for input ends with a likely wait',
      wait('needs_input'),
      { waiting: likely },
      { reason: 'waiting_input' },
    ],
    ['for input goes on over a hint', wait('needs_input'), { waiting: hint }, { at: 6_000 }],
    [
      'for silence ends after one second',
      wait('idle'),
      { now: 2_500, lastOutputAt: 1_500 },
      { reason: 'idle' },
    ],
    ['for silence goes on before', wait('idle'), { now: 2_499, lastOutputAt: 1_500 }, { at: 2_500 }],
    ['for silence counts from the beginning without output', wait('idle'), { now: 1_500 }, { at: 2_000 }],
    [
      'for silence looks no later than its time-out',
      wait('idle'),
      { now: 5_900, lastOutputAt: 5_900 },
      { at: 6_000 },
    ],
    ['ends at its time-out', wait('exit'), { now: 6_000 }, { reason: 'timeout' }],
    [
      'says the fact and not the time-out when both are there',
      wait('output'),
      { now: 6_000, end: 1 },
      { reason: 'output' },
    ],
    [
      'for silence reports the timeout when output continues',
      wait('idle'),
      { now: 6_000, lastOutputAt: 5_999 },
      { reason: 'timeout' },
    ],
  ])('%s', (_title, until, changes, outcome) => {
    expect(decide(until, facts(changes))).toEqual(outcome);
  });
});

test('an observer of a state that cannot be read is told so, and listens no longer', async () => {
  const changes = new Changes();
  let running = true;
  const forget = jest.fn();
  const observed = {
    facts: () => facts({ running }),
    onChange: (check: () => void) => {
      const stop = changes.onChange(check);
      return () => {
        stop();
        forget();
      };
    },
    snapshot: () => {
      throw new Error('no file descriptors');
    },
  };
  const exit = { kind: 'exit', from: 0, timeoutMs: 60_000 } as const;
  const decided = whenDecided(exit, new AbortController().signal, observed);
  running = false;
  changes.notify();
  await expect(decided).rejects.toThrow('no file descriptors');
  expect(forget).toHaveBeenCalled();
});
