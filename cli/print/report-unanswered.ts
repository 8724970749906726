// Says on stderr what a list lacks: a list that is known to be incomplete is not to be taken for all.
import { inertLine } from '../../contracts/text/inert';
import { note } from '../terminal/terminal-style';
import { visibleJson } from './print-json';

interface Unanswered {
  /** For people: what could not be asked. */
  what: string;
  unanswered: readonly string[];
  next: string;
}

/** With `--json` one object, as programs expect of stderr. */
export function reportUnanswered(
  { json = false }: { json?: boolean },
  { what, unanswered, next }: Unanswered,
): void {
  if (unanswered.length === 0) return;
  if (json) process.stderr.write(`${visibleJson({ unanswered })}\n`);
  else note(inertLine(`These ${what} do not answer: ${unanswered.join(', ')}; ${next}.`));
}

/** A text about namespaces of hosts that are gone or denied. */
export const unreadText = (namespaces: readonly string[]): string =>
  inertLine(
    `What is on some hosts is missing here: their namespaces cannot be read (${namespaces.join(', ')}). ` +
      '`holdfast host forget NAME` removes a host that is gone.',
  );

/** As `reportUnanswered`. */
export function reportUnread({ json = false }: { json?: boolean }, namespaces: readonly string[]): void {
  if (namespaces.length === 0) return;
  if (json) process.stderr.write(`${visibleJson({ unread: namespaces })}\n`);
  else note(unreadText(namespaces));
}
