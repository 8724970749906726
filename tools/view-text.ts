// What a model reads of a session: its output, then one line of facts and what can be done next.
import type { CommandView, YieldReason } from '../contracts/session';

const YIELDS: Record<YieldReason, string> = {
  first_output: 'no output yet',
  between_output: 'no further output for a while',
  max: 'it takes long',
  waiting_input: 'it waits for input',
};

/** @param through the tool that looks and resets, where that is not the one that answers */
export function viewText(view: CommandView, through?: string): string {
  const fresh = view.freshShell ? '[this command began in a fresh shell: the one before had ended]\n' : '';
  const output = view.output === '' || view.output.endsWith('\n') ? view.output : `${view.output}\n`;
  return `${fresh}${output}[${factsOf(view, through)}]`;
}

/** One line: how it ended or what it waits for, where, and what can be done next. */
export function factsOf(view: CommandView, through?: string): string {
  const by = through === undefined ? '' : `${through}, `;
  const where = `session ${view.session}, offset ${view.to}`;
  switch (view.state) {
    case 'exited':
      return view.commandId === null ? `nothing was run yet; ${where}` : `${endOf(view)}; ${where}`;
    case 'lost':
      return `lost: ${view.killedBy?.reason ?? 'its terminal is gone'}; whether the command finished is unknown; ${where}`;
    case 'waiting_input':
      return (
        `waiting for ${view.waiting?.echo === false ? 'a password' : 'input'}; ${where}; ` +
        `answer with the tool "input", stop it with ${by}runtime "reset"`
      );
    case 'running':
      return (
        `still running${view.yielded ? `: ${YIELDS[view.yielded]}` : ''}; ${where}; ` +
        `look again with ${by}runtime "output", stop it with ${by}runtime "reset"`
      );
  }
}

function endOf({ exitCode, signal, killedBy }: CommandView): string {
  if (killedBy && killedBy.by !== 'signal')
    return `ended by ${killedBy.by}${killedBy.reason ? `: ${killedBy.reason}` : ''}`;
  return `exit code ${exitCode ?? 'none'}${signal ? `, signal ${signal}` : ''}`;
}
