// How much of the disk the blob store takes, and whether there is room for more: in all, and for each agent.
import { HoldfastError } from '../contracts/errors';
import { MIB, type Quotas } from '../contracts/quotas';
import { MAX_VALUE_BYTES } from '../exec/protocol';
import type { BlobFile, BlobFolder } from './blob-folder';

export type BlobLimits = Pick<Quotas, 'valueBytes' | 'agentValueBytes'>;

/** Looked at anew after so long: other processes may share the folder. */
const LOOK_EVERY_MS = 10_000;

interface Held {
  bytes: number;
  /** What calls of each agent need. */
  agents: Map<string, number>;
}

export interface BlobUsage extends Held {
  at: number;
  /** What nobody is known to need, those first that would go first anyway. */
  spare: BlobFile[];
}

/** Room for something that is being written. */
interface Room {
  /** It is written. */
  fill(): void;
  /** It was not. */
  giveBack(): void;
}

/** Why not; undefined where there is room. */
type Refusal = (usage: BlobUsage) => string | undefined;

export class BlobRoom {
  private usage: BlobUsage | undefined;
  private looking: Promise<BlobUsage> | undefined;
  /** What is being written. */
  private readonly taken: Held = { bytes: 0, agents: new Map() };

  constructor(
    private readonly folder: BlobFolder,
    private readonly limits: BlobLimits,
  ) {}

  /** Throws `values_full` where the agent's calls hold as much as they may. */
  async checkAgent(agent: string): Promise<void> {
    await this.refuseBy((usage) => this.fullFor(agent, usage, 1), 0);
  }

  /** Throws `values_full` where no large value fits. */
  async checkAll(): Promise<void> {
    const bytes = Math.min(MAX_VALUE_BYTES, this.limits.valueBytes / 8);
    await this.refuseBy((usage) => this.full(usage, bytes), bytes);
  }

  /**
   * What may go for it goes. Throws `values_full`. What a tool has made already may take twice its agent's share: it has
   * had its effect.
   */
  async take(agent: string | null, bytes: number, kind: 'arguments' | 'result' | 'copy'): Promise<Room> {
    const share = kind === 'result' ? 2 : 1;
    await this.refuseBy((usage) => {
      const reason =
        (agent === null ? undefined : this.fullFor(agent, usage, bytes, share)) ?? this.full(usage, bytes);
      // In one piece with the look: many may ask at once.
      if (reason === undefined) count(this.taken, agent, bytes);
      return reason;
    }, bytes);
    const giveBack = (): void => count(this.taken, agent, -bytes);
    return { giveBack, fill: () => (giveBack(), this.add(agent, bytes)) };
  }

  /** It is removed. */
  remove(agent: string | null, bytes: number): void {
    this.add(agent, -bytes);
  }

  /** No call of the agent needs it any more, and it lies there for a while. */
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
    return tooMuch(`calls of agent ${agent}`, held, bytes, shares * this.limits.agentValueBytes);
  }

  private full({ bytes: held }: BlobUsage, bytes: number): string | undefined {
    return tooMuch('calls of all agents', held + this.taken.bytes, bytes, this.limits.valueBytes);
  }

  /** Those that ask at the same time share a look. */
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

function tooMuch(whose: string, held: number, bytes: number, allowed: number): string | undefined {
  if (held + bytes <= allowed) return undefined;
  return `${whose} hold large values of ${inMib(held)}, allowed ${inMib(allowed)}`;
}

export function usageOf(files: readonly BlobFile[]): BlobUsage {
  const usage: BlobUsage = { at: Date.now(), bytes: 0, agents: new Map(), spare: [] };
  // Those that are being written have taken their room already.
  for (const { agent, bytes, isSpare, isDraft } of files)
    if (!isDraft || isSpare) count(usage, isSpare ? null : agent, bytes);
  usage.spare = files.filter(({ isSpare }) => isSpare).sort((a, b) => a.expiresAt - b.expiresAt);
  return usage;
}

export const inMib = (bytes: number): string => `${(bytes / MIB).toFixed(bytes < 10 * MIB ? 1 : 0)} MiB`;
