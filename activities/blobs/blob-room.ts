// How much large values take, and whether there is room for more: in total, and for each agent.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { MIB, type Quotas } from '../../contracts/sessions/quotas';
import { MAX_VALUE_BYTES } from '../../exec/protocol';
import type { BlobFile, BlobFolder } from './blob-folder';

export type BlobLimits = Pick<Quotas, 'valueBytes' | 'agentValueBytes'>;

/** Refresh interval: other processes may share the folder. */
const LOOK_EVERY_MS = 10_000;

interface Held {
  bytes: number;
  /** Bytes that calls of each agent need. */
  agents: Map<string, number>;
}

export interface BlobUsage extends Held {
  at: number;
  /** Files not known to be needed, in the order in which they would expire. */
  spare: BlobFile[];
}

/** Space reserved for a file that is being written. */
interface Room {
  /** The file has been written. */
  fill(): void;
  /** Writing failed. */
  giveBack(): void;
}

/** Why there is no room; undefined if there is. */
type Refusal = (usage: BlobUsage) => string | undefined;

export class BlobRoom {
  private usage: BlobUsage | undefined;
  private looking: Promise<BlobUsage> | undefined;
  /** Space for files that are being written. */
  private readonly taken: Held = { bytes: 0, agents: new Map() };

  constructor(
    private readonly folder: Pick<BlobFolder, 'list' | 'removeSpare'>,
    private readonly limits: BlobLimits,
    /** What is counted, in errors. */
    private readonly what: { of: string; are: string } = { of: 'calls', are: 'large values' },
  ) {}

  /** Throws `values_full` if the agent's calls have used up their share. */
  async checkAgent(agent: string): Promise<void> {
    await this.refuseBy((usage) => this.fullFor(agent, usage, 1), 0);
  }

  /** Throws `values_full` if no large value fits. */
  async checkAll(): Promise<void> {
    const bytes = Math.min(MAX_VALUE_BYTES, this.limits.valueBytes / 8);
    await this.refuseBy((usage) => this.full(usage, bytes), bytes);
  }

  /**
   * Reserves space, removing spare files as needed. Throws `values_full`. A tool's result may exceed the agent's share
   * by a factor of two, because the tool has already taken effect.
   */
  async take(agent: string | null, bytes: number, kind: 'arguments' | 'result' | 'copy'): Promise<Room> {
    const share = kind === 'result' ? 2 : 1;
    await this.refuseBy((usage) => {
      const reason =
        (agent === null ? undefined : this.fullFor(agent, usage, bytes, share)) ?? this.full(usage, bytes);
      // Synchronous with the check: many may ask at once.
      if (reason === undefined) count(this.taken, agent, bytes);
      return reason;
    }, bytes);
    const giveBack = (): void => count(this.taken, agent, -bytes);
    return { giveBack, fill: () => (giveBack(), this.add(agent, bytes)) };
  }

  /** The file has been removed. */
  remove(agent: string | null, bytes: number): void {
    this.add(agent, -bytes);
  }

  /** No call of the agent needs the file any more, but it is kept for a while. */
  markSpare(agent: string, bytes: number): void {
    this.add(agent, -bytes);
    this.add(null, bytes);
  }

  private add(agent: string | null, bytes: number): void {
    if (this.usage) count(this.usage, agent, bytes);
  }

  private async refuseBy(refusal: Refusal, bytes: number): Promise<void> {
    if (this.usage && Date.now() - this.usage.at <= LOOK_EVERY_MS && refusal(this.usage) === undefined)
      return;
    const usage = await this.look();
    this.removeSpare(usage, usage.bytes + this.taken.bytes + bytes - this.limits.valueBytes);
    const reason = refusal(usage);
    if (reason !== undefined) throw new HoldfastError('values_full', { reason });
  }

  private fullFor(agent: string, { agents }: BlobUsage, bytes: number, shares = 1): string | undefined {
    const held = (agents.get(agent) ?? 0) + (this.taken.agents.get(agent) ?? 0);
    return this.tooMuch(`agent ${agent}`, { held, bytes }, shares * this.limits.agentValueBytes);
  }

  private full({ bytes: held }: BlobUsage, bytes: number): string | undefined {
    return this.tooMuch('all agents', { held: held + this.taken.bytes, bytes }, this.limits.valueBytes);
  }

  private tooMuch(
    whose: string,
    { held, bytes }: { held: number; bytes: number },
    allowed: number,
  ): string | undefined {
    if (held + bytes <= allowed) return undefined;
    const { of, are } = this.what;
    return `${of} of ${whose} hold ${are} of ${inMib(held)}, allowed ${inMib(allowed)}`;
  }

  /** Concurrent callers share a look. */
  private async look(): Promise<BlobUsage> {
    this.looking ??= this.folder
      .list()
      .then((files) => (this.usage = usageOf(files)))
      .finally(() => (this.looking = undefined));
    return this.looking;
  }

  private removeSpare(usage: BlobUsage, bytes: number): void {
    for (let left = bytes; left > 0;) {
      const file = usage.spare.shift();
      if (!file) return;
      if (!this.folder.removeSpare(file.path)) continue;
      count(usage, null, -file.bytes);
      left -= file.bytes;
    }
  }
}

function count(usage: Held, agent: string | null, bytes: number): void {
  usage.bytes += bytes;
  if (agent !== null) usage.agents.set(agent, (usage.agents.get(agent) ?? 0) + bytes);
}

export function usageOf(files: readonly BlobFile[]): BlobUsage {
  const usage: BlobUsage = { at: Date.now(), bytes: 0, agents: new Map(), spare: [] };
  // Files that are being written have already reserved their space.
  for (const { agent, bytes, isSpare, isDraft } of files)
    if (!isDraft || isSpare) count(usage, isSpare ? null : agent, bytes);
  usage.spare = files.filter(({ isSpare }) => isSpare).sort((a, b) => a.expiresAt - b.expiresAt);
  return usage;
}

export const inMib = (bytes: number): string => `${(bytes / MIB).toFixed(bytes < 10 * MIB ? 1 : 0)} MiB`;
