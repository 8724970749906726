// What a command works with: a client, and what it knows of the data folder's server and worker.
import { LOCAL_HOST } from '../contracts/ids';
import { isOf, lastWorker } from '../workers/process/worker-record';
import type { GlobalOptions } from './global-options';
import type { CliContext, OpenOptions } from './open-context';

/** Throws `no_server` when no server is named, none runs and none may be started. Then nothing of it stays open. */
export const openContext = async (options: GlobalOptions, open: OpenOptions): Promise<CliContext> =>
  // Only now: Temporal's client is needed for no help, and takes a fifth of a second.
  (await import('./open-context')).openContext(options, open);

const workflowPath = ({ namespace }: CliContext, workflowId: string): string =>
  `/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;

/** Link to a workflow in Temporal's web UI that admits a browser: for people. */
export const workflowLink = (context: CliContext, workflowId: string): string | null =>
  context.uiLink(workflowPath(context, workflowId));

/** The link without the token: for models and records. */
export const workflowAddress = (context: CliContext, workflowId: string): string | null =>
  context.uiUrl && context.uiUrl + workflowPath(context, workflowId);

/**
 * Whether this machine holds the shells in question: then the log can be read directly. The embedded server is this
 * data folder's own, even while its worker is dead.
 */
export const isLocal = (
  { uiUrl, worker, client: { address }, namespace }: CliContext,
  host: string,
): boolean =>
  uiUrl === null ? worker?.host === host && isOf(worker, { address, namespace }) : host === LOCAL_HOST;

/** The same, even while nothing serves the host. */
export const isOwn = (context: CliContext, host: string): boolean =>
  isLocal({ ...context, worker: lastWorker(context.dataDir) }, host);

/** Whether this data folder has a host of this name, but not the one in question. */
export const isElsewhere = (context: CliContext, host: string): boolean =>
  lastWorker(context.dataDir)?.host === host && !isOwn(context, host);
