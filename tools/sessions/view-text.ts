// A session as a model reads it: its output, then one line of facts and possible next steps.
import type { CommandView } from '../../contracts/sessions/session';
import { stateText } from '../../contracts/sessions/session-facts';
import type { ToolContext } from '../tool';

/** The tool that runs code on a host that is not that of the agent's own shells. */
export const REMOTE_TOOL = 'code_execution_remote';

export interface ViewPlace {
  /** The tool for looking and resetting, if it is not the answering tool. */
  through?: string;
  /** The host that the tool `input` has to name, if it is not that of the agent's own shells. */
  host?: string;
}

/** For a session of the agent's own host: the turn gets it, too. */
export function seenText(context: ToolContext, view: CommandView, place?: ViewPlace): string {
  context.sawSession?.(view);
  return viewText(view, place);
}

export function viewText(view: CommandView, place: ViewPlace = {}): string {
  const fresh = view.freshShell ? '[this command began in a fresh shell: the previous one had ended]\n' : '';
  const output = view.output === '' || view.output.endsWith('\n') ? view.output : `${view.output}\n`;
  return `${fresh}${output}[${factsOf(view, place)}]`;
}

/** One line: how it ended or what it is waiting for, where, and possible next steps. */
export function factsOf(view: CommandView, place: ViewPlace = {}): string {
  return [stateText(view), `session ${view.session}, offset ${view.to}`, ...nextSteps(view, place)].join(
    '; ',
  );
}

function nextSteps({ state }: CommandView, { through, host }: ViewPlace): string[] {
  const by = through === undefined ? '' : `${through}, `;
  const reset = `stop it with ${by}runtime "reset"`;
  if (state === 'running') return [`look again with ${by}runtime "output", ${reset}`];
  if (state !== 'waiting_input') return [];
  return [`answer with the tool "input"${host === undefined ? '' : ` and "host": "${host}"`}, ${reset}`];
}
