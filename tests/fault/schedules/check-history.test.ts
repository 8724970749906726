// The check of histories finds what it is there to find: each planted history breaks one promise.
import { RULES, violationsOf, type History, type Outcome, type Violation } from './history';
import { scheduleOf } from './schedule';

const told = (effect: string, outcome: Outcome): History['told'][number] => ({ effect, outcome, says: 'x' });

/** A history that keeps all promises, with everything that may be uncertain in it. */
const sound = (): History => ({
  told: [
    told('a', 'done'),
    told('b', 'possible'),
    told('c', 'possible'),
    told('d', 'refused'),
    told('e', 'untold'),
    told('f', 'done'),
  ],
  effects: ['f', 'a', 'b'],
  repeated: [{ id: 'a', first: 'exited 0', again: 'exited 0' }],
  printed: [
    { id: 'whole', planned: 3, isWhole: true, numbers: [1, 2, 3], told: [1, 2, 3] },
    { id: 'prefix', planned: 3, isWhole: false, numbers: [1, 2] },
    { id: 'nothing', planned: 3, isWhole: false, numbers: [] },
  ],
  workers: [
    { id: 'one', effects: ['a', 'b', 'c', 'd', 'e'], ofTools: ['a', 'b'], ended: 'answered' },
    { id: 'two', effects: ['f'], ofTools: [], ended: 'all steps taken' },
  ],
  odd: [],
  left: [],
  unreplayed: [],
});

test('a history in which uncertain effects happened or did not breaks no promise', () => {
  expect(violationsOf(sound())).toEqual([]);
  expect(violationsOf({ ...sound(), effects: ['a', 'f', 'c', 'e'] })).toEqual([]);
});

test('an effect of a tool whose call is uncertain may come late', () => {
  expect(violationsOf({ ...sound(), effects: ['f', 'a', 'c', 'b'] })).toEqual([]);
});

const PLANTED: [what: string, rule: Violation['rule'], plant: (history: History) => void][] = [
  ['a told effect that came twice', 'effect twice', ({ effects }) => effects.push('f')],
  ['an uncertain effect that came twice', 'effect twice', ({ effects }) => effects.push('b')],
  ['a told effect that did not come', 'told effect missing', ({ effects }) => effects.shift()],
  ['a refused effect that came', 'refused effect happened', ({ effects }) => effects.push('d')],
  ['an effect of nobody', 'effect that nobody asked for', ({ effects }) => effects.push('z')],
  [
    'a later effect that came earlier',
    'effects out of order',
    ({ effects }) => effects.splice(1, 2, 'b', 'a'),
  ],
  [
    'an uncertain effect of a command that came late',
    'effects out of order',
    ({ effects }) => effects.push('e', 'c'),
  ],
  [
    'another answer to the same id',
    'answer changed',
    (h) => Object.assign(h.repeated[0] ?? {}, { again: 'lost' }),
  ],
  ['a missing line', 'log lines missing or repeated', (h) => h.printed[0]?.numbers.splice(1, 1)],
  ['a missing last line', 'log lines missing or repeated', (h) => h.printed[0]?.numbers.pop()],
  ['a repeated line', 'log lines missing or repeated', (h) => h.printed[0]?.numbers.splice(1, 0, 1)],
  ['a repeated last line', 'log lines missing or repeated', (h) => h.printed[0]?.numbers.push(3)],
  ['a gap in what was lost', 'log lines missing or repeated', (h) => h.printed[1]?.numbers.shift()],
  ['lines that were not planned', 'log lines missing or repeated', (h) => h.printed[0]?.numbers.push(4)],
  [
    'a line that its reader did not get',
    'told lines missing or repeated',
    (h) => h.printed[0]?.told?.splice(1, 1),
  ],
  ['a line that its reader got twice', 'told lines missing or repeated', (h) => h.printed[0]?.told?.push(3)],
  [
    'a last line that its reader did not get',
    'told lines missing or repeated',
    (h) => h.printed[0]?.told?.pop(),
  ],
  ['an agent that does not end', 'not ended', (h) => Object.assign(h.workers[1] ?? {}, { ended: null })],
  ['a failure in no catalogue', 'odd answer', ({ odd }) => odd.push('TypeError')],
  ['a process that stays', 'left over', ({ left }) => left.push('bash')],
  [
    'a history of other commands',
    'history does not replay',
    ({ unreplayed }) => unreplayed.push('exec/a/local/0'),
  ],
];

test.each(PLANTED)('%s is found', (_what, rule, plant) => {
  const history = sound();
  plant(history);
  expect(violationsOf(history).map((found) => found.rule)).toEqual([rule]);
});

test('each rule has a planted history', () => {
  expect([...new Set(PLANTED.map(([, rule]) => rule))].sort()).toEqual([...RULES].sort());
});

test('a seed makes the same schedule each time, and another seed another one', () => {
  expect(scheduleOf(5)).toEqual(scheduleOf(5));
  expect(scheduleOf(5).workers).not.toEqual(scheduleOf(6).workers);
});
