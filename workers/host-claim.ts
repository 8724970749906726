// One data folder serves a host. The claim is durable, and is looked at again before anything is typed: a process that
// was frozen or cut off finds out that it has lost the host.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ApplicationFailure } from '@temporalio/common';
import { askServer, FRESH_MS, PAUSE_MS } from '../client/ask-server';
import type { Claim, QueueClaims } from '../client/queue-claims';
import { placeOf, type ClaimFacts } from '../contracts/claims';
import { HoldfastError } from '../contracts/errors';
import { WORKER_LOST } from '../contracts/failure';
import { hostTaskQueue } from '../contracts/ids';
import { dataFolderId } from '../exec/data-folder';
import { identityOf } from '../exec/process-identity';

export interface HostClaimOptions {
  claims: QueueClaims;
  host: string;
  facts: ClaimFacts;
}

export const ownFacts = (dataDir: string): ClaimFacts => ({
  folderId: dataFolderId(dataDir),
  dataDir,
  machine: hostname(),
  maker: identityOf(process.pid),
  instance: randomUUID(),
});

export class HostClaim {
  private confirming: Promise<Claim> | undefined;
  private isLost = false;
  /** Called once, when another data folder has the host. */
  onLost: (err: HoldfastError) => void = () => undefined;

  private constructor(
    private readonly options: HostClaimOptions,
    private claim: Claim,
    private confirmedAt: number,
  ) {}

  /** Throws `host_taken` when the host belongs to another data folder. */
  static async make(options: HostClaimOptions): Promise<HostClaim> {
    const askedAt = Date.now();
    return new HostClaim(options, await claimOf(options), askedAt);
  }

  /** Made by this process, and not by an earlier one of the data folder. */
  get isNew(): boolean {
    return this.claim.facts.instance === this.options.facts.instance;
  }

  /** Made for the same folder in another place: one of the two is a copy, or it was moved. */
  get isOfAnotherPlace(): boolean {
    return placeOf(this.claim.facts) !== placeOf(this.options.facts);
  }

  /** What the host's worker polls as: of this process alone, though another may get its pid. */
  get identity(): string {
    const { host, facts } = this.options;
    return `${process.pid}@${hostname()} host ${host} ${facts.instance}`;
  }

  get folderId(): string {
    return this.options.facts.folderId;
  }

  /** Since when this folder has the host, in milliseconds by the server's clock. */
  get since(): number {
    return this.claim.since.getTime();
  }

  /**
   * Resolves when this data folder had the host within the last two seconds. Throws what makes the server hand the task
   * to the host's new worker.
   */
  async confirm(): Promise<void> {
    if (!this.isLost && Date.now() - this.confirmedAt < FRESH_MS) return;
    try {
      await (this.confirming ??= this.ask().finally(() => (this.confirming = undefined)));
    } catch (err) {
      if (!(err instanceof HoldfastError)) throw err;
      if (!this.isLost) this.onLost(err);
      this.isLost = true;
      throw ApplicationFailure.create({ type: WORKER_LOST, message: err.message, nextRetryDelay: PAUSE_MS });
    }
  }

  /** Lets any data folder have the host. For one that leaves nothing running here. */
  async release(): Promise<void> {
    if (this.isLost) return;
    const { claims, host } = this.options;
    await claims.free(hostTaskQueue(host), this.claim, 'it was stopped, and left no session open');
  }

  private async ask(): Promise<Claim> {
    const ask = async (): Promise<Claim> => {
      const askedAt = Date.now();
      this.claim = await claimOf(this.options);
      this.confirmedAt = askedAt;
      return this.claim;
    };
    return askServer(ask, (err) => err instanceof HoldfastError);
  }
}

/** Made anew where an operator has freed the host: it is served, after all. */
async function claimOf({ claims, host, facts }: HostClaimOptions): Promise<Claim> {
  const claim = await claims.make(hostTaskQueue(host), facts);
  if (claim.facts.folderId === facts.folderId) return claim;
  throw new HoldfastError('host_taken', {
    host,
    got: placeOf(facts),
    allowed: placeOf(claim.facts),
    since: claim.since.toISOString(),
  });
}
