// One message of a conversation, printed for people.
import type { Message, ToolCall } from '../../contracts/agents/agent';
import { ARGUMENT_ROLES, type ArgumentRoles } from '../../contracts/tools/call-facts';
import { checkpointText } from '../../contracts/workspaces/change-texts';
import { imageLine } from '../../contracts/tools/images';
import { inertLine, inertText } from '../../contracts/text/inert';
import { draw } from '../terminal/guarded-output';
import { inert } from '../terminal/inert-text';
import { styled } from '../terminal/terminal-style';
import { counted } from '../../contracts/text/counted';

const SHOWN_LINES = 12;

/** @param user the label of people's messages */
export function printMessage(message: Message, user = 'task'): void {
  switch (message.role) {
    case 'user':
      return print('cyan', user, message.text);
    case 'context':
      return print('dim', 'context', message.text);
    case 'summary':
      return print('yellow', 'summary', message.text);
    case 'repair':
      return print('yellow', 'repair', message.text);
    case 'checkpoint': {
      const text = checkpointText(message);
      return text === null ? undefined : print('dim', 'files', inertLine(text));
    }
    case 'rewind':
      return print('yellow', 'rewind', `back to step ${message.to}`);
    case 'tool':
      print(message.isError ? 'red' : 'dim', message.isError ? 'error' : 'result', message.content);
      return (message.images ?? []).forEach((image) => print('dim', '', imageLine(image)));
    case 'assistant':
      // The answer is printed separately, at the end.
      if (message.parsed.kind === 'malformed') print('yellow', 'malformed', message.text ?? '');
      if (message.parsed.kind === 'calls') {
        if (message.parsed.headline) print('bold', 'step', message.parsed.headline);
        for (const call of message.parsed.calls)
          // It is about to run: invisible characters are written out.
          print('green', 'call', inertText(describeCall(call)));
      }
  }
}

function print(style: Parameters<typeof styled>[0], label: string, text: string): void {
  const lines = inert(text).trimEnd().split('\n');
  const shown =
    lines.length <= SHOWN_LINES
      ? lines
      : [
          ...lines.slice(0, SHOWN_LINES / 2),
          `… ${counted(lines.length - SHOWN_LINES, 'line')} …`,
          ...lines.slice(-SHOWN_LINES / 2),
        ];
  const margin = ' '.repeat(11);
  draw(`${styled(style, label.padStart(9))}  ${shown.join(`\n${margin}`)}\n`);
}

/** The tool may be a misspelled one that types. */
const UNDECLARED: ArgumentRoles = { typed: 'keyboard' };

function describeCall(call: ToolCall): string {
  const { tool, args } = call;
  const { roles = UNDECLARED } = call.facts ?? {};
  const inRole = (name: string | undefined): unknown => (name === undefined ? undefined : args[name]);
  const runtime = inRole(roles.runtime);
  const session = inRole(roles.session);
  const typed = inRole(roles.typed);
  const code = inRole(roles.code);
  const shown = ARGUMENT_ROLES.map((role) => roles[role]);
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !shown.includes(name)));
  const where = typeof session === 'number' ? ` session ${session}` : '';
  const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
  // Typed text may be a password.
  const what = code ?? (typeof typed === 'string' ? `(${typed.length} characters)` : '');
  const text = typeof what === 'string' ? what : JSON.stringify(what);
  return `${tool}${runtime ? ` ${JSON.stringify(runtime).slice(1, -1)}` : ''}${where}${more}${text ? `: ${text}` : ''}`;
}
