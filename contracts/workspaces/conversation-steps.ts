// The steps of a conversation, as its messages record them: what each did to the files, and how an earlier one is brought
// back. Pure.
import type { Message } from '../agents/agent';
import { HoldfastError } from '../errors/holdfast-error';
import type { CheckpointOutcome } from './checkpoints';

/** A state of the workspace that the conversation names. */
interface WorkspaceState {
  /** Null: a step may have changed files, and what they were after it is not known. */
  hash: string | null;
  /** The number of the step that it belongs to. */
  step: number;
  turn: number | null;
  /** As the step began: what differs from the state before it was changed by somebody else. */
  isBefore: boolean;
  /** The place of the message that records it. */
  place: number;
}

type KnownState = WorkspaceState & { hash: string };

/** A step, for lists. */
export interface ConversationStep {
  step: number;
  /** From the first turn of this conversation; null where no checkpoint records it. */
  turn: number | null;
  kind: 'calls' | 'answer' | 'malformed' | 'rewind';
  /** The model's title, otherwise the tools that it called, or what was brought back. */
  title: string;
  /** What it did to files; null: nothing in it could change any, or its checkpoint is no longer kept. */
  outcome: CheckpointOutcome | null;
  /** A rewind took it back. */
  isRewound: boolean;
}

/** What a rewind needs to know. */
export interface RewindPlan {
  /** The state to bring back; null: it is not known. */
  hash: string | null;
  /** The last known one; null: there is none. */
  expected: string | null;
  /** Changes since `hash` that were somebody else's. */
  foreign: [from: string, to: string][];
  /** How many messages the model still sees. */
  keeps: number;
}

/** Which changes are meant; without any of these, all. */
export interface AskedSteps {
  /** Those of one step. */
  step?: number | undefined;
  /** Those after the end of this step; 0: from the beginning. */
  from?: number | undefined;
  /** Those up to the end of this step. */
  to?: number | undefined;
  /** Those of one turn. */
  turn?: number | undefined;
}

export function stepsOf(messages: readonly Message[]): ConversationStep[] {
  const standing = new Set(standingPlaces(messages));
  const after = new Map<number, Extract<Message, { role: 'checkpoint' }>>();
  const turns = new Map<number, number>();
  for (const message of messages) {
    if (message.role !== 'checkpoint') continue;
    turns.set(message.step, message.turn);
    if (!message.before) after.set(message.step, message);
  }
  return messages.flatMap((message, place): ConversationStep[] => {
    const isRewound = !standing.has(place);
    if (message.role === 'rewind') {
      const { step, to, files } = message;
      const outcome = files && rewoundOutcome(files);
      const title = `back to step ${to}${message.keeps === undefined ? ' (files)' : files ? '' : ' (conversation)'}`;
      return [{ step, turn: null, kind: 'rewind', title, outcome: outcome ?? null, isRewound }];
    }
    if (message.role !== 'assistant' || message.step === undefined) return [];
    const { step, parsed } = message;
    const outcome = after.get(step)?.outcome ?? null;
    return [
      { step, turn: turns.get(step) ?? null, kind: parsed.kind, title: titleOf(parsed), outcome, isRewound },
    ];
  });
}

/** Throws `invalid_input` for a step that is not there. */
export function planRewind(messages: readonly Message[], to: number): RewindPlan {
  const place = endOfStep(messages, to);
  const isLater = ({ step }: WorkspaceState): boolean => step > to;
  const states = statesOf(messages);
  const at = lastBefore(states, isLater);
  const since = new Set(states.slice(at + 1));
  const known = states.filter(isKnown);
  // Across a step whose checkpoint is missing, it is not known whose a change was. To ask is safer than to overwrite it.
  const foreign = known.flatMap((state, index): [string, string][] => {
    const before = known[index - 1];
    return since.has(state) && state.isBefore && before && before.hash !== state.hash
      ? [[before.hash, state.hash]]
      : [];
  });
  return {
    hash: states[at]?.hash ?? null,
    expected: known.at(-1)?.hash ?? null,
    foreign,
    keeps: place,
  };
}

/** All that they name, in the order of time. */
export const checkpointsIn = (messages: readonly Message[]): string[] =>
  statesOf(messages)
    .filter(isKnown)
    .map(({ hash }) => hash);

/** The state of the files when there were `count` messages; null: it is not known. */
export function stateAt(messages: readonly Message[], count: number): string | null {
  const states = statesOf(messages);
  return states[lastBefore(states, ({ place }) => place >= count)]?.hash ?? null;
}

/** The last state before the first later one; as the next step began, if that is known: with what people had changed. */
function lastBefore(states: readonly WorkspaceState[], isLater: (state: WorkspaceState) => boolean): number {
  const next = states.findIndex(isLater);
  if (next < 0) return states.length - 1;
  return states[next]?.isBefore ? next : next - 1;
}

/** The states between which a step, several steps or a turn changed files. Throws `invalid_input` if there are none. */
export function statesBetween(
  messages: readonly Message[],
  asked: AskedSteps,
): { from: string | null; to: string } {
  const { step, turn } = asked;
  const { from, to } = step === undefined ? asked : { from: step - 1, to: step };
  const states = statesOf(messages).filter(isKnown);
  const isAsked = (state: KnownState): boolean =>
    (turn === undefined || state.turn === turn) &&
    (from === undefined || state.step > from) &&
    (to === undefined || state.step <= to);
  const first = states.findIndex(isAsked);
  const last = states.findLastIndex(isAsked);
  const ending = states[last];
  if (!ending) throw noStates(states, asked);
  const beginning = states[first]?.isBefore ? states[first] : states[first - 1];
  return { from: beginning?.hash ?? null, to: ending.hash };
}

const isKnown = (state: WorkspaceState): state is KnownState => state.hash !== null;

/** In the order of time. */
function statesOf(messages: readonly Message[]): WorkspaceState[] {
  const states: WorkspaceState[] = [];
  let last: Extract<Message, { role: 'checkpoint' }> | undefined;
  for (const [place, message] of messages.entries()) {
    // A turn begins.
    if (message.role === 'user') last = undefined;
    else if (message.role === 'checkpoint') {
      last = message;
      const { step, turn, before = false, outcome } = message;
      if (outcome.state === 'kept') states.push({ hash: outcome.hash, step, turn, isBefore: before, place });
      // Where only the one before a step is missing, the end of the step before it is still known.
      else if (!before || outcome.state === 'off')
        states.push({ hash: null, step, turn, isBefore: false, place });
    } else if (message.role === 'assistant' && last?.outcome.state === 'off') {
      // The rest of its turn has none.
      const { step, parsed } = message;
      const { turn } = last;
      if (step !== undefined && parsed.kind === 'calls')
        states.push({ hash: null, step, turn, isBefore: false, place });
    } else if (message.role === 'rewind' && message.files) {
      const { step, files } = message;
      // It went back to an earlier state. If that is no longer kept, nor are those of the steps between them.
      const isBefore = states.length > 0;
      states.push({ hash: files.before, step: isBefore ? step : step - 1, turn: null, isBefore, place });
      states.push({ hash: files.hash, step, turn: null, isBefore: false, place });
    }
  }
  return states;
}

/** How many messages there are up to the end of a step. */
function endOfStep(messages: readonly Message[], step: number): number {
  if (step === 0) {
    const first = messages.findIndex(({ role }) => role === 'user');
    return first < 0 ? messages.length : first;
  }
  const place = messages.findLastIndex((message) => numberOf(message) === step);
  if (place < 0) {
    const known = messages.flatMap((message) => numberOf(message) ?? []);
    const allowed = known.length > 0 ? `0, or ${known[0]} to ${known.at(-1)}` : 'none: it has no steps yet';
    throw new HoldfastError('invalid_input', { what: 'The step', got: step, allowed, next: LOG });
  }
  const rest = messages.slice(place + 1).findIndex((message) => !isOfStep(message, step));
  return rest < 0 ? messages.length : place + 1 + rest;
}

const LOG = '`holdfast log AGENT` lists its steps. Nothing was changed.';

function numberOf(message: Message): number | undefined {
  return message.role === 'assistant' || message.role === 'rewind' ? message.step : undefined;
}

/** Results, and what was recorded of them. */
const isOfStep = (message: Message, step: number): boolean =>
  message.role === 'tool' || (message.role === 'checkpoint' && message.step === step);

/** Where the messages are that no rewind has taken back. */
export function standingPlaces(messages: readonly Message[]): number[] {
  const last = messages.findLastIndex((message) => message.role === 'rewind' && message.keeps !== undefined);
  const rest = messages.slice(last + 1).map((_, index) => last + 1 + index);
  const rewind = messages[last];
  if (rewind?.role !== 'rewind' || rewind.keeps === undefined) return rest;
  return [...standingPlaces(messages.slice(0, rewind.keeps)), last, ...rest];
}

function titleOf(parsed: Extract<Message, { role: 'assistant' }>['parsed']): string {
  switch (parsed.kind) {
    case 'answer':
      return 'answer';
    case 'malformed':
      return 'a reply that could not be read';
    case 'calls':
      return parsed.headline ?? [...new Set(parsed.calls.map(({ tool }) => tool))].join(', ');
  }
}

const rewoundOutcome = ({
  hash,
  counts,
}: NonNullable<Extract<Message, { role: 'rewind' }>['files']>): CheckpointOutcome => ({
  state: 'kept',
  hash,
  files: 0,
  bytes: 0,
  changes: counts,
});

function noStates(states: readonly KnownState[], asked: AskedSteps): HoldfastError {
  const steps = [...new Set(states.map(({ step }) => step))];
  const got = Object.entries(asked)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
    .join(', ');
  return new HoldfastError('no_checkpoint', {
    got: got || 'all of it',
    allowed: steps.length > 0 ? `steps with checkpoints: ${steps.join(', ')}` : 'none: it has no checkpoints',
  });
}
