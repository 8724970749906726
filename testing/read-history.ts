// Histories in files: as the SDKs and `temporal workflow show --output json` write them, or as we do, with the
// workflow's id beside it.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../client/holdfast-client';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { historyFromJSON, historyToJSON, type History } from '@temporalio/common/lib/proto-utils';

export interface RecordedHistory {
  /** File, or workflow id on a server. */
  source: string;
  workflowId: string;
  workflowType: string;
  history: History;
}

/** Writes a workflow's history into a file, one event a line, to be replayed by later releases. Default: the latest run. */
export async function recordHistory(
  client: HoldfastClient,
  workflowId: string,
  file: string,
  runId?: string,
): Promise<void> {
  const history = await client.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  const { events } = JSON.parse(historyToJSON(history)) as { events: object[] };
  const lines = events.map((event) => JSON.stringify(event)).join(',\n');
  writeFileSync(file, `{"workflowId":${JSON.stringify(workflowId)},"history":{"events":[\n${lines}\n]}}\n`);
}

/** Reads a file, or every `.json` of a folder. Throws `invalid_input`, which names the file. */
export function readHistories(path: string): RecordedHistory[] {
  return filesOf(path).map((file) => {
    const content = asked(file, () => JSON.parse(readFileSync(file, 'utf8')) as unknown);
    const { workflowId, history } = (content ?? {}) as { workflowId?: string; history?: unknown };
    const read = asked(file, () => historyFromJSON(history ?? content));
    const [first] = read.events ?? [];
    if (!first?.workflowExecutionStartedEventAttributes)
      throw notOne(file, 'JSON that does not begin with the start of a workflow');
    return described(file, read, workflowId);
  });
}

const filesOf = (path: string): string[] =>
  asked(path, () => {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith('.json'));
    return names.sort().map((name) => join(path, name));
  });

function asked<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (err) {
    throw notOne(file, reasonOf(err));
  }
}

const notOne = (file: string, reason: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'What to replay',
    got: `${file}: ${reason}`,
    allowed: 'a history as recordHistory(), an SDK or `temporal workflow show --output json` writes it',
    next: 'Name a file with a history, or a folder with .json files that all have one.',
  });

/** Reads the histories of workflows on a server; of each id the latest run. */
export function fetchHistories(
  client: HoldfastClient,
  workflowIds: readonly string[],
): Promise<RecordedHistory[]> {
  return Promise.all(
    workflowIds.map(async (workflowId) => {
      const history = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
      return described(workflowId, history, workflowId);
    }),
  );
}

/** A history begins with its workflow's id; older servers omit it, and some workflows read theirs. */
function described(source: string, history: History, workflowId?: string): RecordedHistory {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  return {
    source,
    workflowId: workflowId ?? (started?.workflowId || 'unknown'),
    workflowType: started?.workflowType?.name ?? 'unknown',
    history,
  };
}
