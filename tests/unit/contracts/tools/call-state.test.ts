// The life of a script's call: every sequence of a few events, and the table that docs/architecture.md shows.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ASKED,
  isKept,
  isOpen,
  isSlow,
  mayStart,
  nextCallState,
  outcomeOf,
  type CallEvent,
  type CallState,
} from '../../../../contracts/tools/call-state';
import type { ToolOutcome } from '../../../../contracts/tools/tools';
import { carriedCalls, readCalls, type SessionCall } from '../../../../workflows/session/call-record';

const outcome: ToolOutcome = { ok: true, value: 'first' };
const EVENTS: CallEvent[] = [
  { type: 'recorded' },
  { type: 'held' },
  { type: 'begun' },
  { type: 'slow' },
  { type: 'ended', outcome },
  { type: 'cancelled', reason: 'its script has ended' },
  { type: 'delivered' },
];
const ended: CallState = { is: 'ended', outcome, recorded: true };
const STATES: CallState[] = [
  ASKED,
  { is: 'recorded', slow: false },
  { is: 'held', slow: false },
  { is: 'running', slow: false },
  ended,
  { is: 'cancelled', reason: 'its script has ended' },
  { is: 'delivered', end: ended },
];
const LENGTH = 5;

/** Calls `visit` for each step of each sequence of up to `LENGTH` events. */
function walk(visit: (before: CallState, event: CallEvent, after: CallState) => void): void {
  const from = (state: CallState, left: number): void => {
    for (const event of left === 0 ? [] : EVENTS) {
      const next = nextCallState(state, event);
      visit(state, event, next);
      from(next, left - 1);
    }
  };
  from(ASKED, LENGTH);
}

test('a call has one end, the first, which only its delivery follows, and nothing follows that', () => {
  const wrong: unknown[] = [];
  walk((before, event, after) => {
    const isSame =
      isOpen(before) ||
      after === before ||
      (before.is !== 'delivered' && after.is === 'delivered' && after.end === before);
    if (!isSame) wrong.push({ before, event, after });
  });
  expect(wrong).toEqual([]);
});

test('only a call that has ended or was cancelled is delivered, with that outcome', () => {
  const wrong: unknown[] = [];
  walk((before, event, after) => {
    if (isOpen(before) && after.is === 'delivered') wrong.push({ before, event });
    if (!isOpen(before) && outcomeOf(before, 'x')?.ok !== outcomeOf(after, 'x')?.ok)
      wrong.push({ before, after });
    if (isOpen(after) !== (outcomeOf(after, 'x') === null)) wrong.push({ after });
  });
  expect(wrong).toEqual([]);
});

/** As the next run of the session reads it. */
function carried(state: CallState, { hold }: { hold: boolean }): CallState {
  const request = { id: 'e1c1', tool: 'fire', args: {}, ...(hold && { hold: {} }) } as SessionCall['request'];
  const records = carriedCalls({ e1c1: { request, state, hash: undefined } }, () => outcome);
  return readCalls(JSON.parse(JSON.stringify(records)) as typeof records)['e1c1']?.state ?? ASKED;
}

test.each([{ hold: true }, { hold: false }])(
  'a tool that may run only once is started once, whatever happens and however often its session continues as new (%j)',
  (how) => {
    const twice: unknown[] = [];
    const from = (state: CallState, runs: number, story: string[]): void => {
      if (runs > 1) return void twice.push(story);
      if (story.length === LENGTH) return;
      for (const event of EVENTS) {
        const next = nextCallState(state, event);
        const begins = next !== state && next.is === 'running' && event.type === 'begun';
        // The tool's worker says that it has not run it.
        const isHeldAgain = next !== state && next.is === 'held' && state.is === 'running';
        // Without a question there is nothing to hold it.
        if (event.type === 'held' && !how.hold) continue;
        from(next, runs + (begins ? 1 : 0) - (isHeldAgain ? 1 : 0), [...story, event.type]);
      }
      if (state.is === 'asked' || state.is === 'delivered') return;
      const next = carried(state, how);
      const goesOn = mayStart(next, 'once');
      from(
        goesOn ? next : nextCallState(next, { type: 'ended', outcome }),
        runs + (goesOn && next.is === 'running' ? 1 : 0),
        [...story, 'continued as new'],
      );
    };
    from(ASKED, 0, []);
    expect(twice).toEqual([]);
  },
);

test.each(STATES.map((state) => [state.is, state] as const))(
  'what a new run of the session starts, and what its script and its session still need: %s',
  (is, state) => {
    const isOfSession = ['recorded', 'held', 'running'].includes(is);
    expect(isOpen(state)).toBe(isOfSession || is === 'asked');
    expect(isKept(state)).toBe(isOfSession || is === 'ended');
    expect(mayStart(state, 'idempotent')).toBe(isOfSession);
    expect(mayStart(state, 'once')).toBe(isOfSession && is !== 'running');
    expect(isSlow(nextCallState(state, { type: 'slow' }))).toBe(isOfSession);
  },
);

test('the session need not hear of a call that was refused before it was recorded', () => {
  expect(isKept(nextCallState(ASKED, { type: 'ended', outcome }))).toBe(false);
});

test('docs/architecture.md shows what each event does in each state', () => {
  const cell = (state: CallState, event: CallEvent): string => {
    const next = nextCallState(state, event);
    if (next === state) return '';
    return next.is === state.is ? 'slow' : next.is;
  };
  const table = [
    ['state', ...EVENTS.map(({ type }) => type)],
    ...STATES.map((state) => [state.is, ...EVENTS.map((event) => cell(state, event))]),
  ];
  const page = readFileSync(join(__dirname, '..', '..', '..', '..', 'docs', 'architecture.md'), 'utf8');
  const rows = page
    .slice(page.indexOf('| state '))
    .split('\n\n')[0]
    ?.split('\n')
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((text) => text.replaceAll('`', '').trim()));
  expect(rows?.filter(([first = '']) => !first.startsWith('-'))).toEqual(table);
});
