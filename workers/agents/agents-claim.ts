// All workers of an agents' queue must offer the same: which worker an agent gets is chance.
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import type { Claim, QueueClaims } from '../../client/hosts/queue-claims';
import { placeOf, type ClaimFacts, type Offer } from '../../contracts/sessions/claims';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { identityOf, isAlive } from '../../system/processes/process-identity';
import { differencesOf, fingerprintOf } from './agents-offer';
import { pollerIdentity, polledQueue, serving, type Poller } from './agents-pollers';

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
  pollerIdentity(fingerprintOf(offer), instance);

export class AgentsClaim {
  private constructor(private readonly options: AgentsClaimOptions) {}

  /** Throws `queue_taken` if others serve the queue with a different offer, unless it may join them. */
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

  /**
   * Throws `queue_taken` as `make` would once the worker `replaced` has left the queue, and changes nothing.
   */
  static async check(options: AgentsClaimOptions, replaced: string | undefined): Promise<void> {
    const standing = await options.claims.read(options.queue);
    if (standing) await new AgentsClaim(options).isServed(standing, replaced);
  }

  private async enter(): Promise<void> {
    const { claims, queue, facts } = this.options;
    serving.add(facts.instance);
    for (;;) {
      const standing = await claims.make(queue, facts);
      if (await this.isServed(standing)) return;
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

  /** False if the claim is of workers that are gone. */
  private async isServed(standing: Claim, replaced?: string): Promise<boolean> {
    const { queue, facts, join } = this.options;
    if (this.isSame(standing)) return true;
    const isStarted = standing.facts.instance !== replaced && (await this.isStarting(standing));
    const isServed =
      isStarted ||
      (await this.others(replaced, await this.serverTime())).some(({ offer }) => offer !== this.own);
    if (!isServed || join) return isServed;
    throw new HoldfastError('queue_taken', {
      queue,
      allowed: placeOf(standing.facts),
      differences: differencesOf(standing.facts.offer ?? {}, facts.offer),
    });
  }

  /** Whether its process exists, or may just be starting on another machine. */
  private async isStarting({ facts: { machine, maker, instance }, since }: Claim): Promise<boolean> {
    const isHere = machine === hostname() && maker.bootId === identityOf(process.pid).bootId;
    if (isHere && maker.pid === process.pid) return serving.has(instance);
    return isHere ? isAlive(maker) : (await this.serverTime()) - since.getTime() < STARTING_MS;
  }

  private serverTime(): Promise<number> {
    const { claims, facts } = this.options;
    return claims.serverTime(facts);
  }

  private get own(): string {
    return fingerprintOf(this.options.facts.offer);
  }

  private isSame({ facts }: Claim): boolean {
    return fingerprintOf(facts.offer ?? {}) === this.own;
  }

  private async others(replaced?: string, now?: number): Promise<Poller[]> {
    const { client, queue, facts } = this.options;
    return (await polledQueue(client, queue, [facts.instance, replaced], now)).others;
  }
}
