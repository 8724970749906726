// What a session shows in Temporal's web UI: what its command is doing, and what to send.
import { atTime, fenced, inMarkdown, messageList } from '../../contracts/text/labels';
import { ownValue } from '../../contracts/own';
import type { CommandView } from '../../contracts/sessions/session';
import { wantedInput } from '../../contracts/sessions/session-facts';
import { approvalDetails } from '../messages/approval-labels';
import { firstLineOf, idOnHost, type RunningCommand, type SessionRecord } from './session-record';

const SHOWN_CHARACTERS = 2_000;
const PARAGRAPH = 500;

export const summaryOfCommand = (command: RunningCommand): string =>
  `${command.runtime}: ${firstLineOf(command)}`;

/** Input may be a password: a summary shows only its length. */
export function summaryOfInput(text: string | null, keys: readonly string[]): string {
  return [text === null ? null : `type ${text.length} characters`, ...keys]
    .filter((part) => part !== null)
    .join(', ');
}

const ANSWER = [
  ['answer with a line', 'Signal `input`', '{"keyboard":"Y"}'],
  ['press a key', 'Signal `input`', '{"keys":["ctrl-c"]}'],
] as const;
const LOOK = ['see new output here', 'Signal `poll` without data, then press R', null] as const;
const RESET = ['end what runs, keep the session', 'Signal `reset`', '{"reason":"it hangs"}'] as const;
const EXEC = ['run a command', 'Update `exec`', '{"code":"ls -la"}'] as const;
const CLOSE = ['end the session', 'Request Cancellation, or Signal `close`', '{"reason":"done"}'] as const;

const MESSAGES = {
  waiting_input: [...ANSWER, LOOK, RESET, CLOSE],
  running: [LOOK, ...ANSWER, RESET, CLOSE],
  exited: [EXEC, CLOSE],
  lost: [EXEC, CLOSE],
};

/** What is shown of a session; pending approvals come first. */
export const sessionDetails = (record: SessionRecord): string =>
  [approvalDetails(record.approvals.waiting), commandDetails(record)]
    .filter((part) => part !== '')
    .join('\n\n');

function commandDetails({ command, view, approvals }: SessionRecord): string {
  if (view !== null && (!command || view.commandId === idOnHost(command))) return detailsOf(view);
  const isHeld = approvals.waiting.some(({ id }) => command && id === idOnHost(command));
  return command ? detailsOfStart(command, isHeld) : '';
}

/** What is shown of a command before the first view of it. */
export const detailsOfStart = (command: RunningCommand, isHeld = false): string =>
  [
    `### ${isHeld ? 'Held, none of it runs yet' : 'Running'}: ${inMarkdown(summaryOfCommand(command))}`,
    `since ${atTime(new Date(command.startedAt))}`,
    messageList(isHeld ? [RESET, CLOSE] : MESSAGES.running),
  ].join('\n\n');

/** Whether it can be shown. One that came by a signal may be anybody's. */
export function isShowable(view: CommandView): boolean {
  try {
    detailsOf(view);
    return true;
  } catch {
    return false;
  }
}

/** Markdown; `seenAt` is workflow time. The view comes from a host: its types are not guaranteed. */
export function detailsOf(view: CommandView, seenAt: Date = new Date()): string {
  const facts = [
    `as of ${atTime(seenAt)}, ${Math.round(view.durationMs / 1_000)} s after it began`,
    `epoch ${view.epoch}`,
    `bytes ${view.from} to ${view.to} of the log`,
    view.omittedBytes > 0 ? `${view.omittedBytes} of them left out` : null,
  ];
  return [
    `### ${stateOf(view)}`,
    inMarkdown(facts.filter((fact) => fact).join(', '), PARAGRAPH),
    ...troublesOf(view),
    fenced(view.output, SHOWN_CHARACTERS),
    messageList(ownValue(MESSAGES, view.state) ?? MESSAGES.running),
  ].join('\n\n');
}

function troublesOf({ degraded, survivors }: CommandView): string[] {
  return [
    ...(degraded
      ? [`**The host's disk is full or read-only; programs stall:** ${inMarkdown(degraded, PARAGRAPH)}`]
      : []),
    ...(survivors.length > 0
      ? [`**Still running after a reset:** process ${inMarkdown(survivors.join(', '), PARAGRAPH)}`]
      : []),
  ];
}

function stateOf(view: CommandView): string {
  switch (view.state) {
    case 'waiting_input':
      return `Waiting for ${wantedInput(view.waiting)}${certaintyOf(view)}`;
    case 'running':
      return 'Still running';
    case 'lost':
      return 'Lost: its terminal is gone';
    case 'exited':
      return view.commandId === null ? 'Nothing has run yet' : endOf(view);
  }
}

const certaintyOf = ({ waiting }: CommandView): string =>
  waiting && waiting.certainty !== 'certain' ? ` (${inMarkdown(waiting.certainty)})` : '';

function endOf({ exitCode, signal, killedBy }: CommandView): string {
  if (killedBy && killedBy.by !== 'signal') {
    const { by, reason } = killedBy;
    return `Ended by ${inMarkdown(by.replace('_', ' '))}${reason ? `: ${inMarkdown(reason)}` : ''}`;
  }
  return `Ended with exit code ${inMarkdown(String(exitCode ?? 'none'))}${signal ? `, signal ${inMarkdown(signal)}` : ''}`;
}
