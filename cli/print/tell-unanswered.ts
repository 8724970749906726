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
export function tellUnanswered(
  { json = false }: { json?: boolean },
  { what, unanswered, next }: Unanswered,
): void {
  if (unanswered.length === 0) return;
  if (json) process.stderr.write(`${visibleJson({ unanswered })}\n`);
  else note(inertLine(`These ${what} do not answer: ${unanswered.join(', ')}; ${next}.`));
}
