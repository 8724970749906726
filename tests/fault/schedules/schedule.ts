// What a schedule consists of, and how a seed makes one: workers with their steps, and the faults meanwhile. Pure.
import type { CrashPoint } from '../../../system/faults/crash-point';
import { choicesOf, type Choices } from './random';

/** Each effect has an id of its own: `w0.2` is that of step 2 of worker 0, `w0.2.1` one of several in that step. */
export type SessionStep =
  /** Appends its id once, between two pauses. */
  | { kind: 'command'; id: string; beforeMs: number; afterMs: number; exit: number }
  /** Prints numbered lines, then appends its id. */
  | { kind: 'print'; id: string; lines: number }
  /** A program that appends each line that is typed into it. */
  | { kind: 'typed'; id: string; inputs: string[] }
  /** A script that calls a tool which runs once for each id, and writes down what it was told. */
  | { kind: 'script'; id: string; calls: string[]; callMs: number }
  /** A command that is reset after its effect or before it; its second effect must never come. */
  | { kind: 'reset'; id: string; beforeMs: number };

export type AgentStep =
  | Extract<SessionStep, { kind: 'command' }>
  | { kind: 'tool'; id: string; tool: 'effect_once' | 'mcp__effects__effect'; ms: number };

export type WorkerPlan =
  | { kind: 'session'; id: string; steps: SessionStep[] }
  | { kind: 'agent'; id: string; steps: AgentStep[]; child: AgentStep[] };

export const FAULTS = [
  'kill-worker',
  'stop-worker',
  'crash-worker',
  'kill-server',
  'kill-both',
  'kill-holder',
  'kill-mcp',
  'freeze-worker',
  'freeze-server',
  'freeze-holder',
  'read-only',
] as const;
export type FaultKind = (typeof FAULTS)[number];

export interface Fault {
  kind: FaultKind;
  /** Since the previous one began. */
  afterMs: number;
  /** How long what was killed stays away, or what was frozen stays frozen. */
  forMs: number;
  /** Which of several holders. */
  which: number;
  /** Where the worker crashes, for `crash-worker`. */
  point: CrashPoint;
  /** Waits for what it is meant for, if another fault has taken that away. */
  isPatient?: true;
}

export interface Schedule {
  seed: number;
  workers: WorkerPlan[];
  faults: Fault[];
}

const POINTS: CrashPoint[] = [
  ...(['activity-arrived', 'command-arrived', 'command-recorded', 'command-journalled'] as const),
  ...(['yield-due', 'yield-told', 'end-due', 'end-told', 'call-arrived', 'call-recorded'] as const),
  ...(['call-answered', 'input-arrived', 'input-typed', 'reset-arrived', 'reset-done'] as const),
];

/** `faults`: those that this machine can have. */
export function scheduleOf(seed: number, faults: readonly FaultKind[] = FAULTS): Schedule {
  const choices = choicesOf(seed);
  const workers = choices.many(choices.between(2, 4), (index) => workerOf(choices, `w${index}`));
  return { seed, workers, faults: choices.many(choices.between(2, 7), () => faultOf(choices, faults)) };
}

function workerOf(choices: Choices, id: string): WorkerPlan {
  if (choices.chance(0.6)) {
    const steps = choices.many(choices.between(4, 9), (n) => sessionStep(choices, `${id}.${n}`));
    return { kind: 'session', id, steps };
  }
  const steps = choices.many(choices.between(3, 7), (n) => agentStep(choices, `${id}.${n}`));
  const hasChild = choices.chance(0.3);
  const child = choices.many(hasChild ? 2 : 0, (n) => agentStep(choices, `${id}.child.${n}`));
  return { kind: 'agent', id, steps, child };
}

function sessionStep(choices: Choices, id: string): SessionStep {
  const ids = (count: number): string[] => choices.many(count, (n) => `${id}.${n}`);
  switch (choices.oneOf(['command', 'command', 'print', 'typed', 'script', 'reset'] as const)) {
    case 'command':
      return commandStep(choices, id);
    case 'print':
      return { kind: 'print', id, lines: choices.oneOf([10, 300, 5_000, 30_000]) };
    case 'typed':
      return { kind: 'typed', id, inputs: ids(choices.between(1, 5)) };
    case 'script':
      return {
        kind: 'script',
        id,
        calls: ids(choices.between(1, 6)),
        callMs: choices.oneOf([0, 0, 100, 800]),
      };
    case 'reset':
      return { kind: 'reset', id, beforeMs: choices.oneOf([0, 0, 300]) };
  }
}

const commandStep = (choices: Choices, id: string): Extract<SessionStep, { kind: 'command' }> => ({
  kind: 'command',
  id,
  beforeMs: choices.oneOf([0, 0, 100, 1_000]),
  afterMs: choices.oneOf([0, 0, 100, 1_000]),
  exit: choices.oneOf([0, 0, 0, 7]),
});

const agentStep = (choices: Choices, id: string): AgentStep =>
  choices.chance(0.5)
    ? commandStep(choices, id)
    : {
        kind: 'tool',
        id,
        tool: choices.oneOf(['effect_once', 'effect_once', 'mcp__effects__effect']),
        ms: choices.oneOf([0, 0, 200, 1_000]),
      };

const faultOf = (choices: Choices, faults: readonly FaultKind[]): Fault => ({
  kind: choices.oneOf(faults),
  // Sometimes at once after the one before: two faults together.
  afterMs: choices.chance(0.3) ? 0 : choices.between(0, 1_500),
  forMs: choices.chance(0.5) ? 0 : choices.between(0, 3_000),
  which: choices.between(0, 9),
  point: choices.oneOf(POINTS),
});
