// `holdfast host enrol`: a separate namespace for a host in another trust domain.
import { setTimeout as delay } from 'node:timers/promises';
import { msToTs } from '@temporalio/common/lib/time';
import { isThisMachine } from '../../client/connect';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { hostNamespace, hostWorkflowId } from '../../contracts/ids';
import {
  HOST_NAMESPACE_MEMO,
  SEARCH_ATTRIBUTE_TYPES,
  WORKFLOW_TASK_TIMEOUT,
  WORKFLOWS,
} from '../../contracts/messages';
import type { HostInput } from '../../contracts/schemas/remote-hosts';
import { registerSearchAttributes } from '../../workers/search-attributes';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import type { CliContext } from '../open-context';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';

const RETENTION = '72 hours';
/** Within this time, all parts of a server know a new namespace. */
const READY_MS = 15_000;
const PAUSE_MS = 250;

/** Runs once on the operator's side; repeating it changes nothing. Throws `enrol_failed`. */
export async function enrolHost(host: string, options: GlobalOptions): Promise<number> {
  await using context = await openContext(options, { start: false });
  const namespace = hostNamespace(host);
  await makeNamespace(context, host, namespace);
  await startHost(context, host, namespace);
  const { address } = context.client;
  const serve = `holdfast host serve ${host} --address ${address} --namespace ${namespace}`;
  const onlyHere = isThisMachine(address);
  if (options.json) printJson({ host, namespace, address, onlyHere, serve });
  else {
    process.stdout.write(`${serve}\n`);
    if (onlyHere) note(tunnelTo(host, address));
    note('Run that on the machine. Its sessions and its presence are only in that namespace.');
    note(
      `Give it credentials of the namespace ${namespace} (role: write) and no other, for example an API key`,
    );
    note('in a profile of its Temporal configuration. Your own worker needs that role there too.');
    note('A server without authorisation, like that of `holdfast up`, keeps nobody out of any namespace.');
  }
  return 0;
}

/** On another machine, such an address is its own. */
function tunnelTo(host: string, address: string): string {
  const port = address.split(':').at(-1);
  return (
    `${address} is this machine: on another one the command finds no server there. For another machine name the address ` +
    `by which it reaches the server (--address), or keep \`ssh -N -R ${port}:${address} ${host}\` running here.`
  );
}

/** An existing one, made with the server's own tools, is used as it is. */
async function makeNamespace({ client }: CliContext, host: string, namespace: string): Promise<void> {
  const { workflowService } = client.temporal;
  const isThere = await workflowService.describeNamespace({ namespace }).then(
    () => true,
    () => false,
  );
  const request = {
    namespace,
    description: 'A Holdfast host in its own trust domain',
    workflowExecutionRetentionPeriod: msToTs(RETENTION),
  };
  if (!isThere)
    await workflowService.registerNamespace(request).catch((err: unknown) => {
      throw new HoldfastError('enrol_failed', { host, reason: reasonOf(err) });
    });
  const own = client.namespaces.clientIn({ memo: { [HOST_NAMESPACE_MEMO]: namespace } });
  const failed = (err: unknown): never => {
    throw new HoldfastError('enrol_failed', { host, reason: reasonOf(err) });
  };
  await untilDone(() => own.workflow.count()).catch(failed);
  const names = Object.keys(SEARCH_ATTRIBUTE_TYPES).join(', ');
  await untilDone(() => registerSearchAttributes(own)).catch((err: unknown) =>
    note(
      `Register the search attributes ${names} in ${namespace}: the server refuses it here, ${reasonOf(err)}`,
    ),
  );
}

/** Throws the last failure when it does not succeed for a while. */
async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (const until = Date.now() + READY_MS; ;) {
    try {
      await work();
      return;
    } catch (err) {
      if (Date.now() > until) throw err;
      await delay(PAUSE_MS);
    }
  }
}

/** Lets everyone in the agents' namespace find the host's own. */
async function startHost({ client }: CliContext, host: string, namespace: string): Promise<void> {
  const workflowId = hostWorkflowId(host);
  const handle = await client.temporal.workflow.start(WORKFLOWS.host, {
    workflowId,
    taskQueue: client.server.queue,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    args: [{ namespace } satisfies HostInput],
    memo: { [HOST_NAMESPACE_MEMO]: namespace },
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: `host ${host}`,
  });
  const { memo } = await handle.describe();
  if (memo?.[HOST_NAMESPACE_MEMO] === namespace) return;
  const reason = `it has registered in the agents' own namespace: stop it there and \`holdfast host forget ${host}\``;
  throw new HoldfastError('enrol_failed', { host, reason });
}
