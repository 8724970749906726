// Replays recorded histories against today's workflow code: could workflows that are open now continue?
import type { DataConverter } from '@temporalio/common';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import type { HoldfastClient } from '../client/holdfast-client';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { withoutNamespace } from '../encryption/data-converter';
import { checkOptions, CONVERTER } from '../workers/checked-options';
import { NO_SINKS } from '../workers/no-sinks';
import { workflowBundle } from '../workers/workflow-bundle';
import { quietenRuntime } from './quiet-runtime';
import { fetchHistories, readHistories, type RecordedHistory } from './read-history';

export interface ReplaySources {
  /** Files, or folders with `.json` files. */
  files?: readonly string[] | undefined;
  /** Ids of workflows on the server of `client`. */
  workflowIds?: readonly string[] | undefined;
  client?: HoldfastClient | undefined;
  /**
   * The code: `{ workflowsPath }` or `{ workflowBundle }`, with sinks and interceptors if it has any. Default:
   * Holdfast's own.
   */
  workflows?: ReplayWorkerOptions | undefined;
  /** For encrypted histories: `encryptedPayloads` of `holdfast/encryption`. */
  dataConverter?: DataConverter | undefined;
}

export interface ReplayVerdict {
  /** File, or workflow id on a server. */
  source: string;
  workflowId: string;
  workflowType: string;
  replays: boolean;
  /** Why it does not replay. */
  error: HoldfastError | null;
}

/**
 * Replays each history. Differences in the order, kind or names of commands are found; changed activity arguments and
 * removed signal handlers are not: assert those yourself. Throws `invalid_input` for a file without a history.
 */
export async function replayHistories(sources: ReplaySources): Promise<ReplayVerdict[]> {
  const { files = [], workflowIds = [], client, dataConverter } = sources;
  if (!sources.workflows) checkOptions('replayHistories()', { dataConverter }, { dataConverter: CONVERTER });
  const workflows = sources.workflows ?? { workflowBundle: workflowBundle(dataConverter), sinks: NO_SINKS };
  const fetched = client ? await fetchHistories(client, workflowIds) : [];
  const histories = [...files.flatMap(readHistories), ...fetched];
  if (histories.length === 0 || (workflowIds.length > 0 && !client))
    throw nothing(`${files.length} files and ${workflowIds.length} workflow ids without a history`);
  quietenRuntime();
  const options = { ...workflows, ...(dataConverter && { dataConverter: withoutNamespace(dataConverter) }) };
  const verdicts: ReplayVerdict[] = [];
  for await (const { error } of Worker.runReplayHistories(options, histories)) {
    const recorded = histories[verdicts.length];
    if (recorded) verdicts.push(verdictOf(recorded, error));
  }
  return verdicts;
}

/** Replaying nothing proves nothing. */
const nothing = (got: string): HoldfastError =>
  new HoldfastError('invalid_input', { what: 'What to replay', got, allowed: 'at least one history' });

/** Throws `replay_failed` with every history that does not replay, and `invalid_input` if there are none at all. */
export function assertReplays(verdicts: readonly ReplayVerdict[]): void {
  if (verdicts.length === 0) throw nothing('no verdicts');
  const failed = verdicts.filter(({ replays }) => !replays);
  if (failed.length === 0) return;
  const [first] = failed;
  if (failed.length === 1 && first?.error) throw first.error;
  const got = `${failed.length} of ${verdicts.length} workflows`;
  const reason = failed.map(({ source, error }) => `\n  ${source}: ${String(error?.facts.reason)}`).join('');
  throw new HoldfastError('replay_failed', { got, reason });
}

function verdictOf(
  { source, workflowId, workflowType }: RecordedHistory,
  failure: Error | undefined,
): ReplayVerdict {
  const where = source === workflowId ? '' : ` (${source})`;
  const got = `${workflowType} ${workflowId}${where}`;
  const error = failure
    ? new HoldfastError('replay_failed', { got, reason: detailOf(reasonOf(failure)) })
    : null;
  return { source, workflowId, workflowType, replays: error === null, error };
}

/** From the SDK's text, only the sentence that says which command differs. */
function detailOf(message: string): string {
  const detail = /Nondeterminism error: (.*)$/s.exec(message)?.[1] ?? message;
  return detail.replaceAll(/\s+/g, ' ').replace(/[.\s"})]*$/, '.');
}
