// Which hosts exist, and whether they are online.
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { missingNamespace } from '../../contracts/errors/server-away';
import { hostTaskQueue, hostWorkflowId, subjectOf } from '../../contracts/ids';
import { WORKFLOW_TASK_TIMEOUT, WORKFLOWS } from '../../contracts/messages';
import { HOST_MESSAGES as MESSAGES } from '../../contracts/messages/to-hosts';
import type { HostFacts, HostInput, HostState } from '../../contracts/schemas/remote-hosts';
import { HOST_PROTOCOL } from '../../contracts/sessions/remote-hosts';
import { askEach } from '../delivery/ask-each';
import { deliver } from '../delivery/deliver';
import { hasPollers } from '../delivery/no-answer/has-pollers';
import type { ServerFacts } from '../server-facts';
import { grpcCode, PERMISSION_DENIED } from '../delivery/grpc-code';
import { describeWorkflow } from '../delivery/list-workflows';
import { requestFailure } from '../delivery/request-failure';
import { millisecondsOf } from '../timestamp';
import type { HostNamespaces } from './host-namespaces';
import { queryHost } from './query-host';
import { QueueClaims } from './queue-claims';

/** The worker of a host may be starting just now, and the server lists a host only a moment after it has come. */
const PATIENCE_MS = 3_000;
const NOT_THERE: readonly string[] = ['not_found', 'namespace_missing'];
const PAUSE_MS = 250;

export class HostDirectory {
  constructor(
    private readonly client: Client,
    private readonly namespaces: HostNamespaces,
    private readonly server: ServerFacts,
  ) {}

  /**
   * All hosts that have ever connected and are not forgotten, by name. Excludes the machine of the agents. Throws if one
   * does not say what it is: it may be online.
   */
  async list(): Promise<HostState[]> {
    const found = await this.found();
    return sorted(await Promise.all(found.map((info) => this.ask(info).catch(nullIfGone))));
  }

  /** The same of those that answer, with the names of those that do not. Throws as `list` if none does. */
  async listAnswering(): Promise<{ hosts: HostState[]; unanswered: string[] }> {
    const { answers, unanswered } = await askEach(
      await this.found(),
      (info) => this.ask(info).catch(nullIfGone),
      { untilOneAnswers: true },
    );
    const [failed] = unanswered;
    if (answers.length === 0 && failed) throw failed.reason;
    return { hosts: sorted(answers), unanswered: unanswered.map(({ one }) => nameOf(one)).sort() };
  }

  private async found(): Promise<WorkflowExecutionInfo[]> {
    const found: WorkflowExecutionInfo[] = [];
    for await (const info of this.namespaces.hosts()) found.push(info);
    return found;
  }

  /** What is known about one host. Throws `unknown_host`. */
  async state(host: string): Promise<HostState> {
    try {
      const workflowId = hostWorkflowId(host);
      const info = await this.client.workflow.getHandle(workflowId).describe();
      if (info.status.name === 'RUNNING') return await this.ask(info);
    } catch (err) {
      if (!(err instanceof WorkflowNotFoundError)) throw requestFailure(err, this.server.address) ?? err;
    }
    const known = (await this.found()).map(nameOf).sort();
    throw new HoldfastError('unknown_host', { host, allowed: known.join(', ') || 'none yet' });
  }

  /**
   * Throws `unknown_host`, and `host_offline` where it is known and gone: a command for an unknown host would
   * wait for it in vain, in a session that is never closed.
   */
  require(host: string): Promise<void> {
    return patiently(() => this.check(host));
  }

  private async check(host: string): Promise<void> {
    try {
      const { status, since, reason } = await this.state(host);
      if (status !== 'online') throw new HoldfastError('host_offline', { host, since, reason });
    } catch (err) {
      // A worker beside the agents announces nothing.
      const isUnknown = err instanceof HoldfastError && err.code === 'unknown_host';
      if (!isUnknown || !(await hasPollers(this.client, hostTaskQueue(host)))) throw err;
    }
  }

  /**
   * The host for remote code: the named one, otherwise the only one online. Throws `unknown_host`, `host_offline`,
   * `no_remote_host`, `ambiguous_host` and `protocol_mismatch`. The host itself checks its access, which may just have
   * changed.
   */
  async choose(name: string | undefined): Promise<HostState> {
    const state = name === undefined ? await patiently(() => this.onlyOne()) : await this.state(name);
    const { host, status, since, reason, facts } = state;
    if (status !== 'online' || !facts) throw new HoldfastError('host_offline', { host, since, reason });
    const { protocol, version } = facts;
    if (protocol !== HOST_PROTOCOL)
      throw new HoldfastError('protocol_mismatch', { host, got: protocol, version, allowed: HOST_PROTOCOL });
    return state;
  }

  /** When the server last heard from the host that holds the lease, in ms since 1970; null if none does. */
  async lastBeat(host: string): Promise<number | null> {
    try {
      const { raw } = await describeWorkflow(this.client, hostWorkflowId(host));
      return millisecondsOf(raw.pendingActivities?.[0]?.lastHeartbeatTime);
    } catch (err) {
      if (err instanceof WorkflowNotFoundError) return null;
      throw err;
    }
  }

  /** For hosts: announces that one is online, and what it can do. */
  async announce(host: string, facts: HostFacts): Promise<void> {
    const workflowId = hostWorkflowId(host);
    const to = {
      client: this.client,
      server: this.server,
      workflowId,
      needsWorker: false,
      what: 'The host',
    };
    await deliver(to, () =>
      this.client.workflow.signalWithStart(WORKFLOWS.host, {
        workflowId,
        taskQueue: this.server.queue,
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        args: [{} satisfies HostInput],
        signal: MESSAGES.announce.name,
        signalArgs: [facts],
        staticSummary: `host ${host}`,
      }),
    );
  }

  /** Removes a host that will not come back, and frees its name. Throws `unknown_host`. */
  async forget(host: string): Promise<void> {
    const own = await this.namespaces.clientOf(host);
    const known = new Set([this.client]);
    try {
      const claims = new QueueClaims(own, this.server.queue);
      const queue = hostTaskQueue(host);
      const claim = await claims.read(queue);
      if (claim) await claims.free(queue, claim, 'the host was forgotten');
      else await this.state(host);
      known.add(own);
    } catch (err) {
      // The host may be gone with its namespace, or with the right to read it.
      const isGone = missingNamespace(err) ?? grpcCode(err) === PERMISSION_DENIED;
      // One that answers in another shape is to be forgotten, too.
      if (err instanceof HoldfastError && err.code === 'answer_invalid') known.add(own);
      else if (own === this.client || !isGone) throw err;
    }
    // An enrolled host that has never connected is not known in its own namespace.
    for (const client of known)
      await client.workflow
        .getHandle(hostWorkflowId(host))
        .signal(MESSAGES.forget.name)
        .catch((err: unknown) => {
          if (!(err instanceof WorkflowNotFoundError)) throw err;
        });
  }

  private async onlyOne(): Promise<HostState> {
    const all = await this.list();
    const online = all.filter(({ status }) => status === 'online');
    const [only, ...more] = online;
    if (more.length > 0)
      throw new HoldfastError('ambiguous_host', { got: online.map(({ host }) => host).join(', ') });
    if (only) return only;
    const offline = all.map(({ host, since }) => `${host} (offline since ${since})`).join(', ');
    throw new HoldfastError('no_remote_host', { got: offline || 'none' });
  }

  /** Asks about an enrolled host in its own namespace, where it announces itself. */
  private async ask(info: Pick<WorkflowExecutionInfo, 'memo' | 'workflowId'>): Promise<HostState> {
    const own = this.namespaces.clientIn(info);
    if (own !== this.client) {
      try {
        return await this.query(info.workflowId, own);
      } catch (err) {
        // It has not connected yet, or its namespace was removed: then it cannot be online.
        if (!(err instanceof HoldfastError) || !NOT_THERE.includes(err.code)) throw err;
      }
    }
    return this.query(info.workflowId, this.client);
  }

  private async query(workflowId: string, client: Client): Promise<HostState> {
    const { server } = this;
    const to = { client, server, workflowId, needsWorker: true, what: 'The host' };
    const state = await queryHost(to, MESSAGES.state);
    // Code for it must not go to a host that it names.
    return { ...state, host: nameOf({ workflowId }) };
  }
}

const sorted = (states: readonly (HostState | null)[]): HostState[] =>
  states.filter((state) => state !== null).sort((a, b) => a.host.localeCompare(b.host, 'en'));

/** The host of a workflow as the server lists it. */
const nameOf = ({ workflowId }: Pick<WorkflowExecutionInfo, 'workflowId'>): string =>
  subjectOf(workflowId).host ?? workflowId;

/** Looks again for a moment while no host is there. */
async function patiently<T>(look: () => Promise<T>): Promise<T> {
  for (const since = Date.now(); ; await delay(PAUSE_MS)) {
    try {
      return await look();
    } catch (err) {
      const isThere = err instanceof HoldfastError && err.code === 'ambiguous_host';
      if (isThere || Date.now() - since > PATIENCE_MS) throw err;
    }
  }
}

/** A host that has ended since it was listed is forgotten. Any other error is thrown: the host may be online. */
function nullIfGone(err: unknown): null {
  if (err instanceof HoldfastError && err.code === 'not_found') return null;
  throw err;
}
