// A data folder is used at one place at a time: its ids, journals and sessions are in it. Locks of the kernel separate the
// processes of one machine. Machines that mount one folder, and copies of a folder, are distinguished by a claim on the
// server, which a process that was frozen or cut off finds lost.
import { uptime } from 'node:os';
import type { Client } from '@temporalio/client';
import type { Claim, QueueClaims } from '../client/hosts/queue-claims';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { folderKey, isSamePlace, placeOf, type ClaimFacts } from '../contracts/sessions/claims';
import { isAlive } from '../system/processes/process-identity';
import { sessionOwner } from './host/orphan-sweep';
import { RepeatedLook } from './repeated-look';
import { lastPollOf, POLLER_MS } from './pollers';

const LOOK_EVERY_MS = 5_000;
/** A worker that has made its claim polls within this time. */
const STARTING_MS = 60_000;

export interface FolderClaimOptions {
  claims: QueueClaims;
  client: Client;
  facts: ClaimFacts & { queues: readonly string[] };
  /** The server is the folder's own, which is always the same; another one may be replaced at its address. */
  isOwnServer: boolean;
  warn: (message: string, facts: object) => void;
}

export class FolderClaim {
  private readonly key: string;
  private readonly looks: RepeatedLook;
  private server: string | undefined;

  private constructor(private readonly options: FolderClaimOptions) {
    const { facts, warn } = options;
    this.key = folderKey(facts.folderId);
    this.looks = new RepeatedLook(
      () => this.look(),
      (reason) => warn('whether the data folder is used elsewhere is unknown', { reason }),
      LOOK_EVERY_MS,
    );
  }

  /** Throws `folder_in_use` if a worker of another place uses the folder. */
  static async make(options: FolderClaimOptions): Promise<FolderClaim> {
    const claim = new FolderClaim(options);
    await claim.enter();
    return claim;
  }

  /** Calls `onLost` once another place has the folder; ends with `leave`. */
  watch(onLost: (err: HoldfastError) => void): void {
    this.onLost = onLost;
    this.looks.start();
  }

  /** Lets any place use the folder. Another process that still does claims it again. */
  async leave(): Promise<void> {
    await this.looks.end();
    const { claims, facts } = this.options;
    const standing = await claims.read(this.key);
    if (standing?.facts.instance === facts.instance)
      await claims.free(this.key, standing, 'its worker has stopped');
  }

  private onLost: (err: HoldfastError) => void = () => undefined;

  private async enter(): Promise<void> {
    const { claims, facts, isOwnServer, client } = this.options;
    if (isOwnServer) this.server = await sessionOwner(client);
    for (;;) {
      const standing = await claims.make(this.key, facts);
      if (standing.facts.instance === facts.instance) return;
      if (isSamePlace(standing.facts, facts)) {
        // Beside another process of this machine.
        if (isAlive(standing.facts.maker)) return;
      } else if (await this.isUsed(standing)) throw inUse(facts, standing);
      await claims.free(this.key, standing, 'its worker is gone');
    }
  }

  /** Whether the maker of another place's claim may still be working. */
  private async isUsed({ facts, since }: Claim): Promise<boolean> {
    const { claims, client, facts: own } = this.options;
    const isHere = facts.machine === own.machine;
    if (isHere && facts.maker.bootId === own.maker.bootId) return isAlive(facts.maker);
    const now = await claims.serverTime(own);
    const last = Math.max(since.getTime(), await lastPollOf(client, facts));
    // What an earlier boot has done was before this one. Otherwise it is a machine whose disk was copied, with its id.
    const isCopied = Boolean(own.machineId) && facts.machineId === own.machineId;
    if (isHere && isCopied && last < now - 1_000 * uptime()) return false;
    return now - since.getTime() < STARTING_MS || now - last < POLLER_MS;
  }

  private async look(): Promise<void> {
    const { claims, facts } = this.options;
    // Before a claim is made there.
    if (await this.isOtherServer()) return this.lose(otherServer());
    const standing = await claims.make(this.key, facts);
    if (!isSamePlace(standing.facts, facts)) {
      this.lose(inUse(facts, standing));
    } else if (standing.facts.instance !== facts.instance && !isAlive(standing.facts.maker)) {
      // Of the processes here this one is left: others look whether it lives.
      await claims.free(this.key, standing, 'its worker is gone');
      await claims.make(this.key, facts);
    }
  }

  private async isOtherServer(): Promise<boolean> {
    if (this.server === undefined) return false;
    const found = await sessionOwner(this.options.client);
    return found !== undefined && found !== this.server;
  }

  private lose(err: HoldfastError): void {
    this.looks.stop();
    this.onLost(err);
  }
}

const otherServer = (): HoldfastError =>
  new HoldfastError('no_server', {
    address: 'the address of this data folder’s server',
    reason: 'the server of another data folder has taken it',
    next: 'Run `holdfast up`: it starts this folder’s server on another port.',
  });

export const inUse = (own: ClaimFacts, { facts, since }: Claim): HoldfastError =>
  new HoldfastError('folder_in_use', {
    got: placeOf(own),
    allowed: placeOf(facts),
    since: since.toISOString(),
  });
