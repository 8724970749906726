// A schedule: what people ask, what fails, and which of the things that may happen do, as data. A seed makes one, and any
// part of it is one, too, so that it can be shrunk.
import { choicesOf, type Choices } from '../../fault/schedules/random';
import { FILE_WORDS, HARD_WORDS, WORDS } from '../world/agent-activities';
import type { Receiver } from '../world/side-activities';
import { CALLS } from '../world/scripts';
import type { Program } from '../world/terminal';

/** One kind of step for each name. */
type Named<Do extends string, Rest = object> = Do extends string ? { do: Do } & Rest : never;
interface InSession {
  session: number;
}

export type Step =
  /** Lets as many things happen, each chosen among those that may. */
  | Named<'go', { picks: number[] }>
  | Named<'pass', { ms: number }>
  | Named<'exec', InSession & { id: string; code: string; reset?: true }>
  /** Somebody asks for an earlier one again, under its id. */
  | Named<'exec-again' | 'send-again', { which: number; isSameUpdate: boolean }>
  | Named<'input', InSession & { id: string; bySignal: boolean; key?: 'ctrl-c' }>
  | Named<'reset', InSession & { id: string; bySignal: boolean }>
  | Named<'output', InSession & { id: string; waits: boolean }>
  | Named<'wait', InSession & { id: string }>
  | Named<'close' | 'cancel' | 'terminate', InSession>
  | Named<'send', { id: string; message: string; isUrgent: boolean; bySignal: boolean }>
  | Named<'interrupt' | 'recover' | 'stop', { id: string }>
  | Named<'rewind', Rewinding>
  /** Somebody asks for an earlier one again, under its id. */
  | Named<'rewind-again', { which: number; isSameUpdate: boolean }>
  /** Somebody asks everything that runs what its state is. */
  | Named<'look' | 'dismiss'>
  | Named<'webhook' | 'quota' | 'claim'>
  | Named<'event' | 'test-webhook' | 'short', { id: string }>
  | Named<'receiver', { is: Receiver }>
  /** The host connects, is stopped, or will not come back. */
  | Named<'announce' | 'stop-host', { instance: number }>
  | Named<'forget-host'>
  | Named<'cancel-agent' | 'terminate-agent'>
  /** Somebody looks at what waits, and decides. */
  | Named<
      'decide',
      { which: number; id: string; approve: boolean; hash: 'shown' | 'other'; lasting: boolean }
    >
  | Named<'give-up'>
  | Named<'evict' | 'kill-worker', { which: number }>
  | Named<'start-worker' | 'kill-host-worker' | 'start-host-worker' | 'lose-terminals'>
  | Named<'kill-agent-worker' | 'start-agent-worker'>
  | Named<'lose-answers', { count: number }>;

interface Rewinding {
  id: string;
  to: number;
  what: 'both' | 'files' | 'conversation';
  dryRun: boolean;
  force: boolean;
  stop: boolean;
  bySignal: boolean;
}

/** How the agent of a schedule was made. */
export type AgentKind = 'plain' | 'limited' | 'files' | 'own-files';

export interface Schedule {
  seed: number;
  /** Default: plain. */
  agent?: AgentKind;
  /** Whether clients send the context of a trace. */
  isTraced?: boolean;
  weight: number;
  suggestAt: number;
  steps: Step[];
}

const MOST_STEPS = 24;

export function scheduleOf(seed: number): Schedule {
  const choices = choicesOf(seed);
  const count = choices.between(4, MOST_STEPS);
  const agent = choices.oneOf(['plain', 'plain', 'plain', 'limited', 'files', 'files', 'own-files'] as const);
  const words = WORDS_OF[agent];
  const [own, lengths] = choices.oneOf([
    [OF_SESSIONS, [60, 100, Infinity, Infinity]],
    // A session would begin the next run with as many events.
    [agentKinds(agent, words), [20, 30, 60, Infinity]],
    [
      [...OF_SIDE, ...agentKinds(agent, words)],
      [20, 30, 60, Infinity],
    ],
    [
      [...OF_SESSIONS, ...agentKinds(agent, words)],
      [60, 100, Infinity],
    ],
  ] as const);
  const kinds = [...own, ...FAULTS];
  const steps = choices.many(count, (n) => [stepOf(kinds, choices, n), goOf(choices)]).flat();
  const suggestAt = choices.oneOf(lengths);
  const isTraced = choices.chance(0.2);
  return { seed, agent, isTraced, weight: choices.oneOf([1, 1, 40]), suggestAt, steps };
}

const goOf = (choices: Choices): Step => ({
  do: 'go',
  picks: choices.many(choices.oneOf([0, 0, 1, 2, 4, 8, 20]), () => choices.between(0, 999)),
});

const PROGRAMS: readonly Program[] = ['quick', 'quick', 'fails', 'long', 'asks', 'calls', 'calls', 'imports'];
const WORDS_OF: Record<AgentKind, readonly string[]> = {
  plain: WORDS,
  limited: [...WORDS, ...HARD_WORDS, ...HARD_WORDS],
  files: ['call', 'held', 'shell', 'broken', ...FILE_WORDS],
  'own-files': ['call', 'held', 'spawn', ...FILE_WORDS],
};

/** How often a kind of step comes, and what makes it. */
type Kind = readonly [number, (choices: Choices, n: number) => Step];

const OF_SESSIONS: readonly Kind[] = [
  [10, execOf],
  [3, (choices) => ({ do: 'exec-again', which: choices.between(0, 9), isSameUpdate: choices.chance(0.5) })],
  [4, inputOf],
  [5, (c, n) => ({ do: 'reset', session: sessionOf(c), id: `r${n}`, bySignal: c.chance(0.2) })],
  [2, (c, n) => ({ do: 'output', session: sessionOf(c), id: `o${n}`, waits: c.chance(0.5) })],
  [1, (c, n) => ({ do: 'wait', session: sessionOf(c), id: `w${n}` })],
  [2, (c) => ({ do: c.oneOf(['close', 'cancel', 'terminate'] as const), session: sessionOf(c) })],
];

const agentKinds = (agent: AgentKind, words: readonly string[]): readonly Kind[] => [
  [12, (c, n) => sendOf(c, n, words)],
  ...(agent === 'files' || agent === 'own-files' ? OF_FILES : []),
  [3, (c) => ({ do: 'send-again', which: c.between(0, 9), isSameUpdate: c.chance(0.5) })],
  [4, (c, n) => ({ do: c.oneOf(['interrupt', 'recover', 'recover', 'stop'] as const), id: `x${n}` })],
  [1, () => ({ do: 'dismiss' })],
  [1, (c) => ({ do: c.oneOf(['cancel-agent', 'terminate-agent'] as const) })],
  [2, (c) => ({ do: c.oneOf(['kill-agent-worker', 'start-agent-worker'] as const) })],
];

const OF_FILES: readonly Kind[] = [
  [6, rewindOf],
  [5, (c) => ({ do: 'rewind-again', which: c.between(0, 9), isSameUpdate: c.chance(0.5) })],
];

const OF_SIDE: readonly Kind[] = [
  [6, (c) => ({ do: c.oneOf(['webhook', 'webhook', 'quota', 'quota', 'claim'] as const) })],
  [12, (_, n) => ({ do: 'event', id: `e${n}` })],
  [2, (_, n) => ({ do: 'test-webhook', id: `t${n}` })],
  [4, (c) => ({ do: 'receiver', is: c.oneOf(['fine', 'down', 'slow', 'gone'] as const) })],
  [6, (c) => ({ do: c.oneOf(['announce', 'announce', 'stop-host'] as const), instance: c.between(0, 1) })],
  [1, () => ({ do: 'forget-host' })],
  [4, (_, n) => ({ do: 'short', id: `s${n}` })],
];

const FAULTS: readonly Kind[] = [
  [1, () => ({ do: 'look' })],
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

function stepOf(kinds: readonly Kind[], choices: Choices, n: number): Step {
  const total = kinds.reduce((sum, [weight]) => sum + weight, 0);
  let left = choices.between(1, total);
  const kind = kinds.find(([weight]) => (left -= weight) <= 0);
  return (kind?.[1] ?? execOf)(choices, n);
}

const sessionOf = (choices: Choices): number => (choices.chance(0.8) ? 0 : 1);

function execOf(choices: Choices, n: number): Step {
  const manner = choices.oneOf(['', '', '', ' risky', ' risky', ' denied']);
  const program = choices.oneOf(PROGRAMS);
  const code = `${program}${program === 'calls' ? callsOf(choices) : ''}${manner} #${n}`;
  const reset = choices.chance(0.2) ? { reset: true as const } : {};
  return { do: 'exec', session: sessionOf(choices), id: `c${n}`, code, ...reset };
}

/** What a script calls, and how its calls are limited. */
function callsOf(choices: Choices): string {
  const words = choices.many(choices.between(1, 3), () => choices.oneOf(CALLS));
  const manner = choices.oneOf(['', '', ' few', ' narrow', ' together', ' together']);
  return ` ${words.join(' ')}${manner}`;
}

function rewindOf(choices: Choices, n: number): Step {
  return {
    ...{
      do: 'rewind',
      id: `b${n}`,
      to: choices.between(0, 3),
      what: choices.oneOf(['both', 'both', 'files', 'conversation']),
    },
    ...{ dryRun: choices.chance(0.15), force: choices.chance(0.3), stop: choices.chance(0.2) },
    bySignal: choices.chance(0.25),
  };
}

function sendOf(choices: Choices, n: number, known: readonly string[]): Step {
  const words = choices.many(choices.oneOf([0, 0, 1, 2, 3]), () => choices.oneOf(known));
  return {
    ...{ do: 'send', id: `m${n}`, message: [`m${n}`, ...words].join(' ') },
    ...{ isUrgent: choices.chance(0.25), bySignal: choices.chance(0.3) },
  };
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
