// Only one data folder serves a host. The claim is durable, and is checked again before anything is typed: a process
// that was frozen or cut off finds out that it has lost the host.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ApplicationFailure } from '@temporalio/common';
import { askServer, FRESH_MS, PAUSE_MS } from '../../client/delivery/ask-server';
import type { Claim, QueueClaims } from '../../client/hosts/queue-claims';
import { placeOf, type ClaimFacts } from '../../contracts/sessions/claims';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { WORKER_LOST } from '../../contracts/errors/failure';
import { hostTaskQueue } from '../../contracts/ids';
import { dataFolderId } from '../../exec/host/data-folder';
import { identityOf } from '../../system/process-identity';

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
  /** Called once, when another data folder has taken the host. */
  onLost: (err: HoldfastError) => void = () => undefined;

  private constructor(
    private readonly options: HostClaimOptions,
    private claim: Claim,
    private confirmedAt: number,
  ) {}

  /** Throws `host_taken` if the host belongs to another data folder. */
  static async make(options: HostClaimOptions): Promise<HostClaim> {
    const askedAt = Date.now();
    return new HostClaim(options, await claimOf(options), askedAt);
  }

  /** Made by this process, not by an earlier one of the data folder. */
  get isNew(): boolean {
    return this.claim.facts.instance === this.options.facts.instance;
  }

  /** Made for the same folder at another path: one of the two is a copy, or it was moved. */
  get isOfAnotherPlace(): boolean {
    return placeOf(this.claim.facts) !== placeOf(this.options.facts);
  }

  /** The identity with which the host's worker polls: unique to this process, even if its pid is reused. */
  get identity(): string {
    const { host, facts } = this.options;
    return `${process.pid}@${hostname()} host ${host} ${facts.instance}`;
  }

  get folderId(): string {
    return this.options.facts.folderId;
  }

  /** Since when this folder has owned the host, in milliseconds by the server's clock. */
  get since(): number {
    return this.claim.since.getTime();
  }

  /**
   * Resolves if this data folder owned the host within the last two seconds. Otherwise throws an error that makes the
   * server give the task to the host's new worker.
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

  /** Lets any data folder take the host. Only if nothing is left running here. */
  async release(): Promise<void> {
    if (this.isLost) return;
    const { claims, host } = this.options;
    await claims.free(hostTaskQueue(host), this.claim, 'it was stopped with no session open');
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

/** Claims again if an operator has freed the host: it is still being served. */
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
