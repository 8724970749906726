// All workers of an agents' queue must offer the same: which worker an agent gets is chance.
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import type { Claim, QueueClaims } from '../../client/hosts/queue-claims';
import { placeOf, type ClaimFacts, type Offer } from '../../contracts/sessions/claims';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { identityOf, isAlive } from '../../system/process-identity';
import { POLLER_MS, pollersOf, QUEUE_TYPES } from '../pollers';
import { differencesOf, fingerprintOf } from './agents-offer';

/** A worker that has made its claim polls within this time. */
const STARTING_MS = 60_000;

export interface AgentsClaimOptions {
  claims: QueueClaims;
  client: Client;
  queue: string;
  facts: AgentsFacts;
  /** Joins workers with a different offer. */
  join: boolean;
}

type AgentsFacts = ClaimFacts & { offer: Offer };

/** The identity with which a worker polls, for other workers to read. */
export const agentsIdentity = ({ offer, instance }: AgentsFacts): string =>
  `${process.pid}@${hostname()} agents ${fingerprintOf(offer)} ${instance}`;

const IDENTITY = /^(\d+)@(\S+) agents ([0-9a-f]{12}) (\S+)$/;

/** Running sets of workers in this process. */
const serving = new Set<string>();

export class AgentsClaim {
  private constructor(private readonly options: AgentsClaimOptions) {
    serving.add(options.facts.instance);
  }

  /** Throws `queue_taken` if others serve the queue with a different offer. */
  static async make(options: AgentsClaimOptions): Promise<AgentsClaim> {
    const claim = new AgentsClaim(options);
    try {
      await claim.enter();
      return claim;
    } catch (err) {
      serving.delete(options.facts.instance);
      throw err;
    }
  }

  private async enter(): Promise<void> {
    const { claims, queue, facts, join } = this.options;
    for (;;) {
      const standing = await claims.make(queue, facts);
      if (this.isSame(standing)) return;
      const isServed = isStarting(standing) || (await this.others()).some(({ offer }) => offer !== this.own);
      if (isServed && join) return;
      if (isServed)
        throw new HoldfastError('queue_taken', {
          queue,
          allowed: placeOf(standing.facts),
          differences: differencesOf(standing.facts.offer ?? {}, facts.offer),
        });
      // The claim's workers are gone.
      await claims.free(queue, standing, 'its workers are gone, and others have a different offer');
    }
  }

  /** The last worker with this offer frees the queue. */
  async leave(): Promise<void> {
    const { claims, queue, facts } = this.options;
    serving.delete(facts.instance);
    const standing = await claims.read(queue);
    if (standing && this.isSame(standing) && (await this.others()).length === 0)
      await claims.free(queue, standing, 'its last worker has stopped');
  }

  private get own(): string {
    return fingerprintOf(this.options.facts.offer);
  }

  private isSame({ facts }: Claim): boolean {
    return fingerprintOf(facts.offer ?? {}) === this.own;
  }

  /** Workers of the queue in other processes, by offer. Older releases do not state theirs, and are not included. */
  private async others(): Promise<{ offer: string }[]> {
    const { client, queue, facts } = this.options;
    const pollers = await pollersOf(client, queue, QUEUE_TYPES.workflow);
    return pollers.flatMap(({ identity, seenAt }) => {
      const [, pid, machine, offer, instance] = IDENTITY.exec(identity) ?? [];
      if (pid === undefined || offer === undefined) return [];
      const isLate = Date.now() - seenAt > POLLER_MS;
      const isOther = instance !== facts.instance && isThere({ pid: Number(pid), machine, instance });
      return isOther && !isLate ? [{ offer }] : [];
    });
  }
}

/** Whether its process exists, or may just be starting on another machine. */
function isStarting({ facts: { machine, maker, instance }, since }: Claim): boolean {
  const isHere = machine === hostname() && maker.bootId === identityOf(process.pid).bootId;
  if (isHere && maker.pid === process.pid) return serving.has(instance);
  return isHere ? isAlive(maker) : Date.now() - since.getTime() < STARTING_MS;
}

/** A process on this machine can be checked directly; the server notices only after a minute. */
function isThere({
  pid,
  machine,
  instance = '',
}: {
  pid: number;
  machine?: string;
  instance?: string;
}): boolean {
  if (machine !== hostname()) return true;
  if (pid === process.pid) return serving.has(instance);
  try {
    process.kill(pid, 0);
    return true;
  } catch (err) {
    return (err as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
