// Views of the list in Temporal's web UI that an operator keeps. The web UI saves views in the browser: a link with
// `savedQuery` adds one (docs/decisions/0017-states-webhooks-metrics-and-logs.md). Pure.
import { inAddress, workflowList } from '../text/labels';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../messages';

const { state, waitsFor } = SEARCH_ATTRIBUTES;
/** Whatever was terminated or timed out keeps its last state. */
const OPEN = 'ExecutionStatus="Running"';
const AGENTS = `WorkflowType="${WORKFLOWS.agent}"`;

export const UI_VIEWS = [
  {
    name: 'Waits for somebody',
    query: `${OPEN} AND ${waitsFor} IN ("input", "approval", "person", "retry")`,
  },
  { name: 'Agents at work', query: `${OPEN} AND ${AGENTS} AND ${state}="working"` },
  { name: 'Idle agents', query: `${OPEN} AND ${AGENTS} AND ${state}="idle"` },
  {
    name: 'Failed agents',
    query: `${AGENTS} AND ExecutionStatus IN ("Failed", "Terminated", "TimedOut")`,
  },
] as const;

/** The address of a view; `saved`: opening it adds the view to the browser's. */
export function uiViewUrl(
  { name, query }: { name: string; query: string },
  { uiUrl, namespace, saved = false }: { uiUrl: string; namespace: string; saved?: boolean },
): string {
  const address = `${uiUrl}${workflowList(namespace, query)}`;
  return saved ? `${address}&savedQuery=${inAddress(name)}` : address;
}
