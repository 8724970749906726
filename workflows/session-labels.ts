// What a session shows of itself in Temporal's web UI. Markdown; terminal output is fenced.
import type { CommandView } from '../contracts/session';
import type { RunningCommand } from './session-record';

const SHOWN_CHARACTERS = 2_000;

const firstLine = (text: string): string => text.trim().split('\n')[0]?.slice(0, 80) ?? '';

export const summaryOfCommand = ({ runtime, code }: RunningCommand): string =>
  `${runtime}: ${firstLine(code)}`;

/** What was typed may be a password: a summary shows only how much. */
export function summaryOfInput(text: string | null, keys: readonly string[]): string {
  return [text === null ? null : `type ${text.length} characters`, ...keys]
    .filter((part) => part !== null)
    .join(', ');
}

export function detailsOf(view: CommandView): string {
  const facts = [
    `**${view.state.replace('_', ' ')}**`,
    view.exitCode === null ? null : `exit code ${view.exitCode}`,
    view.waiting && (view.waiting.echo ? 'waits for input' : 'waits for a password'),
    `epoch ${view.epoch}`,
    `bytes ${view.from} to ${view.to}`,
  ];
  // Longer than any run of backquotes in the output, so that none of it ends the fence (CommonMark 4.5).
  const longest = Math.max(2, ...[...view.output.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const shown = view.output.slice(-SHOWN_CHARACTERS);
  return `${facts.filter((fact) => fact).join(', ')}\n\n${fence}\n${shown}\n${fence}`;
}
