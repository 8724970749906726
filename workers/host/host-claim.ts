// Only one data folder serves a host. The claim is durable, and is checked again before anything is typed: a process
// that was frozen or cut off finds out that it has lost the host, and with no task within five seconds.
import { createHash, randomUUID } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { ApplicationFailure } from '@temporalio/common';
import { askServer, FRESH_MS, PAUSE_MS } from '../../client/delivery/ask-server';
import type { Claim, QueueClaims } from '../../client/hosts/queue-claims';
import { isSamePlace, placeOf, type ClaimFacts } from '../../contracts/sessions/claims';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { WORKER_LOST } from '../../contracts/errors/failure';
import { hostTaskQueue } from '../../contracts/ids';
import { dataFolderId } from '../../exec/host/data-folder';
import { ageOf, thisMoment, type Moment } from '../../system/elapsed';
import { identityOf, machineId } from '../../system/processes/process-identity';
import { inUse } from '../folder-claim';
import { RepeatedLook } from '../repeated-look';

const LOOK_EVERY_MS = 5_000;

export interface HostClaimOptions {
  claims: QueueClaims;
  host: string;
  facts: ClaimFacts;
  warn: (message: string, facts: object) => void;
}

export function ownFacts(dataDir: string): ClaimFacts {
  const maker = identityOf(process.pid);
  return {
    folderId: dataFolderId(dataDir),
    place: placeIdOf(dataDir, maker.bootId),
    machineId: machineId(),
    dataDir,
    machine: hostname(),
    maker,
    instance: randomUUID(),
  };
}

/** Paths may agree on two machines, numbers of files on two file systems. */
function placeIdOf(dataDir: string, bootId: string): string {
  const path = realpathSync(dataDir);
  const parts = [hostname(), bootId, path, String(statSync(path).ino)];
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16);
}

export class HostClaim {
  private confirming: Promise<Claim> | undefined;
  private isLost = false;
  private onLost: (err: HoldfastError) => void = () => undefined;
  private readonly looks = new RepeatedLook(
    () => this.look(),
    (reason) =>
      this.options.warn('whether the host is served elsewhere is unknown', {
        host: this.options.host,
        reason,
      }),
    LOOK_EVERY_MS,
  );

  private constructor(
    private readonly options: HostClaimOptions,
    private claim: Claim,
    private confirmedAt: Moment,
  ) {}

  /** Throws `host_taken` if the host belongs to another data folder. Call it once the folder is claimed for this place. */
  static async make(options: HostClaimOptions): Promise<HostClaim> {
    const askedAt = thisMoment();
    const { claims, host, facts } = options;
    for (;;) {
      const claim = await claimOf(options);
      if (isSamePlace(claim.facts, facts)) return new HostClaim(options, claim, askedAt);
      // This place has the folder now: the worker of the other one, if it lives, finds out here.
      await claims.free(hostTaskQueue(host), claim, 'its data folder is used at another place');
    }
  }

  /** Throws `host_taken` as `make` would, and changes nothing. */
  static async check({ claims, host, facts }: Omit<HostClaimOptions, 'warn'>): Promise<void> {
    const standing = await claims.read(hostTaskQueue(host));
    if (standing) refuseOthers(host, facts, standing);
  }

  /** Made by this process, not by an earlier one of the data folder. */
  get isNew(): boolean {
    return this.claim.facts.instance === this.options.facts.instance;
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

  serverTime(): Promise<number> {
    const { claims, facts } = this.options;
    return claims.serverTime(facts);
  }

  /**
   * Resolves if this data folder owned the host within the last two seconds. Otherwise throws an error that makes the
   * server give the task to the host's new worker.
   */
  async confirm(): Promise<void> {
    if (!this.isLost && ageOf(this.confirmedAt) < FRESH_MS) return;
    try {
      await (this.confirming ??= this.ask().finally(() => (this.confirming = undefined)));
    } catch (err) {
      if (!(err instanceof HoldfastError)) throw err;
      if (!this.isLost) this.onLost(err);
      this.isLost = true;
      throw ApplicationFailure.create({ type: WORKER_LOST, message: err.message, nextRetryDelay: PAUSE_MS });
    }
  }

  /** Calls `onLost` once another data folder has taken the host, or another place the folder, until `unwatch`. */
  watch(onLost: (err: HoldfastError) => void): void {
    this.onLost = onLost;
    this.looks.start();
  }

  unwatch(): void {
    this.looks.stop();
  }

  /** Only reads: what an operator has freed is claimed again by the next task, not while this process stops. */
  private async look(): Promise<void> {
    const { claims, host, facts } = this.options;
    const standing = await claims.read(hostTaskQueue(host));
    if (!standing || isSamePlace(standing.facts, facts)) return;
    await this.confirm().catch((err: unknown) => {
      if (!this.isLost) throw err;
    });
    if (this.isLost) this.looks.stop();
  }

  /** Lets any data folder take the host. Only if nothing is left running here. */
  async release(): Promise<void> {
    if (this.isLost) return;
    const { claims, host } = this.options;
    await claims.free(hostTaskQueue(host), this.claim, 'it was stopped with no session open');
  }

  private async ask(): Promise<Claim> {
    const ask = async (): Promise<Claim> => {
      const askedAt = thisMoment();
      const claim = await claimOf(this.options);
      if (!isSamePlace(claim.facts, this.options.facts)) throw inUse(this.options.facts, claim);
      this.claim = claim;
      this.confirmedAt = askedAt;
      return this.claim;
    };
    return askServer(ask, (err) => err instanceof HoldfastError);
  }
}

/** Claims again if an operator has freed the host: it is still being served. */
async function claimOf({ claims, host, facts }: HostClaimOptions): Promise<Claim> {
  const claim = await claims.make(hostTaskQueue(host), facts);
  refuseOthers(host, facts, claim);
  return claim;
}

function refuseOthers(host: string, own: ClaimFacts, { facts, since }: Claim): void {
  if (facts.folderId === own.folderId) return;
  throw new HoldfastError('host_taken', {
    host,
    got: placeOf(own),
    allowed: placeOf(facts),
    since: since.toISOString(),
  });
}
