// A command that waits for a person, for an MCP client: it gets an answer before it gives up the call.
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionHandle } from '../../client/session-handle';
import type { WaitingApproval } from '../../client/agents/approval-desk';
import type { CommandView } from '../../contracts/sessions/session';
import type { CliContext } from '../open-context';
import { sameServer } from '../print/next-step';
import type { Answer } from './operation';

/** A person who looks answers within that time. */
const UNTOLD_MS = 10_000;
const LOOK_MS = 1_000;

/** The command's view, or the approval that it has waited for all this time. */
export async function viewOrHeld(
  running: Promise<CommandView>,
  { client }: CliContext,
  { shell, id }: { shell: SessionHandle; id: string },
): Promise<{ view: CommandView } | { held: WaitingApproval }> {
  const over = new AbortController();
  const look = async (): Promise<{ held: WaitingApproval }> => {
    for (let since: number | undefined; ;) {
      await delay(LOOK_MS, undefined, { signal: over.signal });
      const waiting = await client.approvals.of(shell.workflowId).catch(() => []);
      const held = waiting.find((one) => one.id === id);
      since = held && (since ?? performance.now());
      if (held && since !== undefined && performance.now() - since >= UNTOLD_MS) return { held };
    }
  };
  const held = look();
  held.catch(() => undefined);
  try {
    return await Promise.race([running.then((view) => ({ view })), held]);
  } finally {
    over.abort();
  }
}

/** Nothing has run. */
export function heldAnswer(
  { what, reasons, place, expiresAt, hash }: WaitingApproval,
  { context, shell, id }: { context: CliContext; shell: SessionHandle; id: string },
): Answer {
  const why = reasons.map(({ rule, found }) => `${rule}: ${found}`).join('; ');
  const where = place?.cwd === undefined || place.cwd === null ? '' : `, in ${place.cwd}`;
  const { agent, session } = shell.ref;
  const approve = `holdfast approve ${id} --agent ${agent} --session ${session}${sameServer({ data: context.dataDir })}`;
  return {
    text:
      `Nothing has run yet: it waits for an approval of ${what}${where} (${why}). A person says yes with \`${approve}\`, or on ` +
      `the page. Call exec again with the same arguments and "id": "${id}" for its result; it is not run twice.`,
    structured: { state: 'waiting_approval', id, agent, session, what, reasons, place, expiresAt, hash },
  };
}
