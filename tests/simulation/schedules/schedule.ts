// A schedule: what people ask, what fails, and which of the things that may happen do, as data. A seed makes one, and any
// part of it is one, too, so that it can be shrunk.
import { choicesOf, type Choices } from '../../fault/schedules/random';
import type { Program } from '../world/terminal';

export type Step =
  /** Lets as many things happen, each chosen among those that may. */
  | { do: 'go'; picks: number[] }
  | { do: 'pass'; ms: number }
  | { do: 'exec'; session: number; id: string; code: string; reset?: true }
  /** Somebody asks for an earlier command again, under its id. */
  | { do: 'exec-again'; which: number; isSameUpdate: boolean }
  | { do: 'input'; session: number; id: string; bySignal: boolean; key?: 'ctrl-c' }
  | { do: 'reset'; session: number; id: string; bySignal: boolean }
  | { do: 'output'; session: number; id: string; waits: boolean }
  | { do: 'wait'; session: number; id: string }
  | { do: 'close' | 'cancel' | 'terminate'; session: number }
  /** Somebody looks at what waits, and decides. */
  | { do: 'decide'; which: number; id: string; approve: boolean; hash: 'shown' | 'other'; lasting: boolean }
  | { do: 'give-up' }
  | { do: 'evict'; which: number }
  | { do: 'kill-worker'; which: number }
  | { do: 'start-worker' }
  | { do: 'kill-host-worker' | 'start-host-worker' | 'lose-terminals' }
  | { do: 'lose-answers'; count: number };

export interface Schedule {
  seed: number;
  weight: number;
  suggestAt: number;
  steps: Step[];
}

export const MOST_STEPS = 40;

export function scheduleOf(seed: number): Schedule {
  const choices = choicesOf(seed);
  const count = choices.between(6, MOST_STEPS);
  const steps = choices.many(count, (n) => [stepOf(choices, n), goOf(choices)]).flat();
  const suggestAt = choices.oneOf([60, 100, 1_000_000, 1_000_000]);
  return { seed, weight: choices.oneOf([1, 1, 40]), suggestAt, steps };
}

const goOf = (choices: Choices): Step => ({
  do: 'go',
  picks: choices.many(choices.oneOf([0, 0, 1, 2, 4, 8, 20]), () => choices.between(0, 999)),
});

const PROGRAMS: readonly Program[] = ['quick', 'quick', 'fails', 'long', 'asks'];

/** How often each kind of step comes, and what makes it. */
const KINDS: readonly (readonly [number, (choices: Choices, n: number) => Step])[] = [
  [10, execOf],
  [3, (choices) => ({ do: 'exec-again', which: choices.between(0, 9), isSameUpdate: choices.chance(0.5) })],
  [4, inputOf],
  [5, (c, n) => ({ do: 'reset', session: sessionOf(c), id: `r${n}`, bySignal: c.chance(0.2) })],
  [2, (c, n) => ({ do: 'output', session: sessionOf(c), id: `o${n}`, waits: c.chance(0.5) })],
  [1, (c, n) => ({ do: 'wait', session: sessionOf(c), id: `w${n}` })],
  [2, (c) => ({ do: c.oneOf(['close', 'cancel', 'terminate'] as const), session: sessionOf(c) })],
  [5, decideOf],
  [1, () => ({ do: 'give-up' })],
  [3, (c) => ({ do: 'evict', which: c.between(0, 9) })],
  [1, (c) => ({ do: 'kill-worker', which: c.between(0, 1) })],
  [1, () => ({ do: 'start-worker' })],
  [2, (c) => ({ do: c.oneOf(['kill-host-worker', 'lose-terminals'] as const) })],
  [2, () => ({ do: 'start-host-worker' })],
  [2, (c) => ({ do: 'lose-answers', count: c.between(1, 3) })],
  [4, (c) => ({ do: 'pass', ms: c.oneOf([100, 1_000, 5_000, 31_000, 700_000]) })],
];

function stepOf(choices: Choices, n: number): Step {
  const total = KINDS.reduce((sum, [weight]) => sum + weight, 0);
  let left = choices.between(1, total);
  const kind = KINDS.find(([weight]) => (left -= weight) <= 0);
  return (kind?.[1] ?? execOf)(choices, n);
}

const sessionOf = (choices: Choices): number => (choices.chance(0.8) ? 0 : 1);

function execOf(choices: Choices, n: number): Step {
  const manner = choices.oneOf(['', '', '', ' risky', ' risky', ' denied']);
  const code = `${choices.oneOf(PROGRAMS)}${manner} #${n}`;
  const reset = choices.chance(0.2) ? { reset: true as const } : {};
  return { do: 'exec', session: sessionOf(choices), id: `c${n}`, code, ...reset };
}

function inputOf(choices: Choices, n: number): Step {
  const key = choices.chance(0.3) ? { key: 'ctrl-c' as const } : {};
  return { do: 'input', session: sessionOf(choices), id: `i${n}`, bySignal: choices.chance(0.5), ...key };
}

function decideOf(choices: Choices, n: number): Step {
  return {
    ...{ do: 'decide', which: choices.between(0, 3), id: `d${n}`, approve: choices.chance(0.7) },
    ...{ hash: choices.chance(0.85) ? 'shown' : 'other', lasting: choices.chance(0.15) },
  };
}
