// How pages in Temporal's web UI show pending approvals: all of what is asked, and what to send. Markdown; pure.
import type { Approval } from '../../contracts/tools/approvals';
import type { OpenQuestion } from '../../contracts/agents/questions';
import { parseSessionWorkflowId } from '../../contracts/ids';
import { fenced, inMarkdown, messageList, workflowLink } from '../../contracts/text/labels';
import { captionOf, cutValues } from '../../contracts/tools/shown-values';

/** For one value; a command shows the whole. */
const SHOWN_CHARACTERS = 4_000;
const FOLDER_CHARACTERS = 4_096;

/** For the page of the session or the turn that waits. */
export const approvalDetails = (waiting: readonly Approval[]): string =>
  waiting.map((one) => detailsOf(one, { id: one.id, hash: one.hash })).join('\n\n');

/** For the pages of the agent and of its turn: the agent forwards the answers. */
export const questionDetails = (questions: readonly OpenQuestion[], namespace: string): string =>
  questions
    .map((one) => {
      const { workflowId, id, hash } = one;
      const at = parseSessionWorkflowId(workflowId);
      const where = at ? { session: at.session, host: at.host } : {};
      return detailsOf(one, { ...where, id, hash }, `in ${workflowLink(namespace, workflowId)}`);
    })
    .join('\n\n');

interface Answer {
  session?: number;
  host?: string;
  id: string;
  hash: string;
}

function detailsOf(approval: Approval, answer: Answer, where?: string): string {
  const { what, reasons, expiresAt, place, agent, runs, values = [], hash, id } = approval;
  const facts = [
    where,
    agent !== undefined && `agent ${inMarkdown(agent)}`,
    place && `host ${inMarkdown(place.host)}`,
    place && `folder ${place.cwd === null ? 'unknown' : inMarkdown(place.cwd, FOLDER_CHARACTERS)}`,
    `until ${inMarkdown(expiresAt)}`,
  ];
  return [
    `### Waiting for approval: ${inMarkdown(what)}`,
    reasons
      .map(({ rule, found }) => `- **${inMarkdown(rule)}**: ${inMarkdown(found, FOLDER_CHARACTERS)}`)
      .join('\n'),
    facts.filter((fact) => fact).join(', '),
    `id ${inMarkdown(id, FOLDER_CHARACTERS)}, hash ${inMarkdown(hash)}${runs === undefined ? '' : `, ${inMarkdown(runs)}`}`,
    ...cutValues(values, { each: SHOWN_CHARACTERS }).map(
      (value) => `${inMarkdown(captionOf(value))}:\n\n${fenced(value.text, Infinity)}`,
    ),
    messageList([
      ['approve', 'Signal `approve`', JSON.stringify(answer)],
      ['approve all of this kind', 'Signal `approve`', JSON.stringify({ ...answer, scope: 'session' })],
      ['deny', 'Signal `deny`', JSON.stringify({ ...answer, hash: undefined, reason: 'not here' })],
    ]),
  ].join('\n\n');
}
