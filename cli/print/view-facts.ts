// A view's facts beside its output, for people.
import { inertLine } from '../../contracts/text/inert';
import type { CommandView } from '../../contracts/sessions/session';

/** One line: state, exit code, who ended it, what it waits for, where in the log. */
export function factsOf(view: CommandView): string {
  const { killedBy, waiting } = view;
  const facts = [
    view.state.replace('_', ' '),
    view.exitCode === null ? null : `exit code ${view.exitCode}`,
    view.signal,
    killedBy && `ended by ${killedBy.by}${killedBy.reason ? ` (${killedBy.reason})` : ''}`,
    waiting && (waiting.echo ? 'waits for input' : 'waits for a password'),
    `epoch ${view.epoch}`,
    `bytes ${view.from} to ${view.to}`,
  ];
  return inertLine(facts.filter((fact) => fact).join(', '));
}
