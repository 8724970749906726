// A view's facts beside its output, for people.
import { inertLine } from '../../contracts/text/inert';
import type { CommandView, KilledBy } from '../../contracts/sessions/session';
import { wantedInput } from '../../contracts/sessions/session-facts';

/** One line: state, exit code, who ended it, what it waits for, where in the log. */
export function factsOf(view: CommandView): string {
  const { killedBy, waiting } = view;
  const facts = [
    view.state.replace('_', ' '),
    view.exitCode === null ? null : `exit code ${view.exitCode}`,
    view.signal,
    killedBy && endedBy(killedBy),
    waiting && `waits for ${wantedInput(waiting)}`,
    `epoch ${view.epoch}`,
    `bytes ${view.from} to ${view.to}`,
  ];
  return inertLine(facts.filter((fact) => fact).join(', '));
}

/** For example `ended by reset (it hangs)`. */
export const endedBy = ({ by, reason }: KilledBy): string => `ended by ${by}${reason ? ` (${reason})` : ''}`;
