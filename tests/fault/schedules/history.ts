// What a schedule leaves behind, and the check of it: what callers were told, against what happened. Pure, so that
// planted histories test it. The model: docs/decisions/0020-tests-embedding-and-layout.md.

/**
 * What the caller of one effect was told. `done`: it happened. `possible`: it may have happened (`lost`,
 * `unknown_outcome`). `refused`: it did not happen, and will not. `untold`: the caller itself was ended before it was
 * told, as a script whose holder is killed.
 */
export type Outcome = 'done' | 'possible' | 'refused' | 'untold';

export interface Told {
  /** Each effect is one line with its id in a file that all effects of a schedule share. */
  effect: string;
  outcome: Outcome;
  /** The words, for the report. */
  says: string;
}

/** A command, call or message that was asked for again under its own id. */
export interface Repeated {
  id: string;
  first: string;
  again: string;
}

/** Numbered lines that one command printed. */
export interface Printed {
  id: string;
  planned: number;
  /** Whether its caller was told that it ended well: then all lines are there. */
  isWhole: boolean;
  /** The numbers in the session's log, in its order. */
  numbers: number[];
  /** The numbers in the output that the caller was given; absent if it was given none, or a shortened one. */
  told?: number[];
}

/** A client's session, or an agent: those that work through steps one after the other. */
export interface Worker {
  id: string;
  /** Effects in the order in which it asks for them. */
  effects: string[];
  /** Those of them that tools have. A tool that is told to stop may go on, so one that is uncertain may come late. */
  ofTools: string[];
  /** How it ended; null if it did not. */
  ended: string | null;
}

export interface History {
  told: Told[];
  /** Ids in the order of the lines. */
  effects: string[];
  repeated: Repeated[];
  printed: Printed[];
  workers: Worker[];
  /** Failures that are not from the catalogue, or contradict what the caller asked for. */
  odd: string[];
  /** Processes, sockets and claims that are there when everything was ended. */
  left: string[];
  /** Workflows that could not go on after the faults, because their histories do not replay. */
  unreplayed: string[];
}

export const RULES = [
  'effect twice',
  'told effect missing',
  'refused effect happened',
  'effect that nobody asked for',
  'effects out of order',
  'answer changed',
  'log lines missing or repeated',
  'told lines missing or repeated',
  'not ended',
  'odd answer',
  'left over',
  'history does not replay',
] as const;

export interface Violation {
  rule: (typeof RULES)[number];
  what: string;
}

/** Everything in which a history breaks a promise; empty if it keeps all. */
export function violationsOf(history: History): Violation[] {
  return [
    ...ofEffects(history),
    ...history.workers.flatMap((worker) => ofOrder(worker, history)),
    ...history.printed.flatMap(ofPrinted),
    ...history.repeated
      .filter(({ first, again }) => first !== again)
      .map(({ id, first, again }) => violation('answer changed', `${id}: first ${first}, then ${again}`)),
    ...history.workers.filter(({ ended }) => ended === null).map(({ id }) => violation('not ended', id)),
    ...history.odd.map((what) => violation('odd answer', what)),
    ...history.left.map((what) => violation('left over', what)),
    ...history.unreplayed.map((what) => violation('history does not replay', what)),
  ];
}

const violation = (rule: Violation['rule'], what: string): Violation => ({ rule, what });

/** How often an effect may have happened. */
const ALLOWED: Record<Outcome, { least: number; most: number }> = {
  done: { least: 1, most: 1 },
  possible: { least: 0, most: 1 },
  refused: { least: 0, most: 0 },
  untold: { least: 0, most: 1 },
};

function ofEffects({ told, effects }: History): Violation[] {
  const counts = new Map<string, number>();
  for (const effect of effects) counts.set(effect, (counts.get(effect) ?? 0) + 1);
  const planned = new Set(told.map(({ effect }) => effect));
  return [
    ...told.flatMap(({ effect, outcome, says }) => {
      const happened = counts.get(effect) ?? 0;
      const { least, most } = ALLOWED[outcome];
      const what = `${effect}: ${happened} times, told ${outcome} (${says})`;
      if (happened > 1) return [violation('effect twice', what)];
      if (happened > most) return [violation('refused effect happened', what)];
      return happened < least ? [violation('told effect missing', what)] : [];
    }),
    ...[...counts.keys()]
      .filter((effect) => !planned.has(effect))
      .map((effect) => violation('effect that nobody asked for', effect)),
  ];
}

/** Those that happened did so in the order in which they were asked for. Counts are another rule's. */
function ofOrder({ id, effects: asked, ofTools }: Worker, { effects, told }: History): Violation[] {
  const own = new Set(asked);
  const happened = [...new Set(effects.filter((effect) => own.has(effect)))];
  const certain = new Set(told.filter(({ outcome }) => outcome === 'done').map(({ effect }) => effect));
  const mayBeLate = (effect: string): boolean => ofTools.includes(effect) && !certain.has(effect);
  const isOvertaken = (effect: string, at: number): boolean =>
    happened.slice(0, at).some((before) => asked.indexOf(before) > asked.indexOf(effect));
  return happened.some((effect, at) => !mayBeLate(effect) && isOvertaken(effect, at))
    ? [violation('effects out of order', `${id}: ${happened.join(', ')}`)]
    : [];
}

function ofPrinted({ id, planned, isWhole, numbers, told }: Printed): Violation[] {
  const gap = (all: number[]): number => all.findIndex((number, index) => number !== index + 1);
  const broken = gap(numbers);
  const whole = !isWhole || numbers.length === planned;
  return [
    ...(broken >= 0 || numbers.length > planned || !whole
      ? [
          violation(
            'log lines missing or repeated',
            `${id}: ${numbers.length} of ${planned} lines, ${around(numbers, broken)}`,
          ),
        ]
      : []),
    ...(told && (gap(told) >= 0 || told.length > planned || (isWhole && told.length !== planned))
      ? [
          violation(
            'told lines missing or repeated',
            `${id}: ${told.length} of ${planned} lines, ${around(told, gap(told))}`,
          ),
        ]
      : []),
  ];
}

const around = (numbers: number[], index: number): string =>
  index < 0 ? 'in order' : `at ${index}: ${numbers.slice(Math.max(0, index - 2), index + 3).join(' ')}`;
