// How a tool's call left a session: recorded beside the text that the model reads, for pages and lists. Pure.
import { label } from '../text/labels';
import type { CommandView, Waiting, YieldReason } from './session';

/** A part of a view; what does not apply is absent. */
export interface SessionFacts
  extends
    Pick<CommandView, 'session' | 'state'>,
    Partial<Pick<CommandView, 'exitCode' | 'signal' | 'killedBy' | 'yielded'>> {
  /** Null: nothing was run yet. */
  commandId?: string | null;
  waiting?: Pick<Waiting, 'echo'> | null;
}

const REASON_CHARACTERS = 200;

/** The part that is recorded: small, because history is paid for. */
export function sessionFacts(view: CommandView): SessionFacts {
  const { session, state, commandId, exitCode, signal, killedBy, yielded, waiting } = view;
  return {
    session,
    state,
    ...(commandId === null && { commandId }),
    ...(exitCode !== null && { exitCode }),
    ...(signal !== null && { signal }),
    ...(killedBy && {
      killedBy: { by: killedBy.by, reason: killedBy.reason && label(killedBy.reason, REASON_CHARACTERS) },
    }),
    ...(state === 'running' && yielded && { yielded }),
    ...(state === 'waiting_input' && waiting && { waiting: { echo: waiting.echo } }),
  };
}

const YIELDS: Record<YieldReason, string> = {
  first_output: 'no output yet',
  between_output: 'no further output for a while',
  max: 'it takes long',
  waiting_input: 'it waits for input',
};

/** What a program that waits wants to be typed. */
export const wantedInput = (waiting: Pick<Waiting, 'echo'> | null | undefined): string =>
  waiting?.echo === false ? 'a password' : 'input';

/** For example `exit code 0` or `waiting for input`. */
export function stateText(facts: SessionFacts): string {
  switch (facts.state) {
    case 'exited':
      return facts.commandId === null ? 'nothing was run yet' : endText(facts);
    case 'lost':
      return `lost: ${facts.killedBy?.reason ?? 'its terminal is gone'}; whether the command finished is unknown`;
    case 'waiting_input':
      return `waiting for ${wantedInput(facts.waiting)}`;
    case 'running':
      return `still running${facts.yielded ? `: ${YIELDS[facts.yielded]}` : ''}`;
  }
}

function endText({ exitCode, signal, killedBy }: SessionFacts): string {
  if (killedBy && killedBy.by !== 'signal')
    return `ended by ${killedBy.by}${killedBy.reason ? `: ${killedBy.reason}` : ''}`;
  return `exit code ${exitCode ?? 'none'}${signal ? `, signal ${signal}` : ''}`;
}
