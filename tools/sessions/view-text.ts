// A session as a model reads it: its output, then one line of facts and possible next steps.
import type { CommandView, YieldReason } from '../../contracts/sessions/session';

/** The tool that runs code on a host that is not that of the agent's own shells. */
export const REMOTE_TOOL = 'code_execution_remote';

const YIELDS: Record<YieldReason, string> = {
  first_output: 'no output yet',
  between_output: 'no further output for a while',
  max: 'it takes long',
  waiting_input: 'it waits for input',
};

export interface ViewPlace {
  /** The tool for looking and resetting, if it is not the answering tool. */
  through?: string;
  /** The host that the tool `input` has to name, if it is not that of the agent's own shells. */
  host?: string;
}

export function viewText(view: CommandView, place: ViewPlace = {}): string {
  const fresh = view.freshShell ? '[this command began in a fresh shell: the previous one had ended]\n' : '';
  const output = view.output === '' || view.output.endsWith('\n') ? view.output : `${view.output}\n`;
  return `${fresh}${output}[${factsOf(view, place)}]`;
}

/** One line: how it ended or what it is waiting for, where, and possible next steps. */
export function factsOf(view: CommandView, { through, host }: ViewPlace = {}): string {
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
        `answer with the tool "input"${host === undefined ? '' : ` and "host": "${host}"`}, stop it with ${by}runtime "reset"`
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
