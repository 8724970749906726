// Keeps a host without agents informed about the tools that only the agents' worker has: at the start, while a session is
// open, and when a script calls a tool that is not known. The last known ones stay in the data folder, so that a call is
// recognised by the next worker of this host even while no agents are served.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { OffersElsewhere } from '../../activities/tools/tool-channel';
import { askForOffer } from '../../client/hosts/ask-for-offer';
import type { HoldfastClient } from '../../client/holdfast-client';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import type { ToolsOffer } from '../../contracts/tools/offered-tools';
import { parseWith } from '../../contracts/schemas/parse';
import { toolsOfferSchema } from '../../contracts/schemas/tools';
import { readJson, writeJson } from '../../system/json-file';
import type { OfferedTools } from '../../tools/offered-tools';
import { RepeatedLook } from '../repeated-look';

/** Each look is a workflow. */
const EVERY_MS = 60_000;
/** From the beginning of one look to that of the next, however many scripts call tools that are not known. */
const PAUSE_MS = 5_000;
/** A script's call waits no longer for a look. */
const PATIENCE_MS = 10_000;

export interface OfferLooksOptions {
  client: HoldfastClient;
  host: string;
  dataDir: string;
  source: OfferedTools;
  log: (message: string, facts: object) => void;
}

export class OfferLooks implements OffersElsewhere {
  private readonly over = new AbortController();
  private readonly looks: RepeatedLook;
  private readonly file: string;
  private isUsed = (): boolean => true;
  private digest: string | null = null;
  private begunAt = -Infinity;
  private looking: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly options: OfferLooksOptions) {
    this.file = join(options.dataDir, `offered-tools.${options.host}.json`);
    this.looks = new RepeatedLook(
      () => this.lookIfUsed(),
      (reason) => this.warn('the agents could not be asked for their tools', { reason }),
      EVERY_MS,
    );
  }

  /** Offers the tools that were known last. */
  load(): void {
    try {
      const kept = readJson(this.file);
      if (kept !== undefined) this.offer(parseWith(toolsOfferSchema, 'The offer of the agents', kept));
    } catch (err) {
      this.warn('the last known tools of the agents could not be read', { reason: reasonOf(err) });
    }
  }

  /** @param isUsed whether scripts may call tools here now: otherwise there is no reason to look */
  start(isUsed: () => boolean): void {
    this.isUsed = isUsed;
    this.looks.start({ now: true });
  }

  stop(): void {
    this.over.abort();
    this.looks.stop();
  }

  used(): void {
    if (performance.now() - this.begunAt > EVERY_MS) void this.refresh();
  }

  async refresh(): Promise<void> {
    this.next ??= this.lookNext();
    const patience = delay(PATIENCE_MS, undefined, { ref: false });
    // What fails is reported by the repeated look.
    await Promise.race([this.next, patience]).catch(() => undefined);
  }

  /** The next look to begin, for all that wait for it. */
  private async lookNext(): Promise<void> {
    const pauseMs = Math.max(0, this.begunAt + PAUSE_MS - performance.now());
    await delay(pauseMs, undefined, { signal: this.over.signal });
    // One that has begun may have its answer already.
    while (this.looking) await this.looking.catch(() => undefined);
    this.next = undefined;
    await this.look();
  }

  private async lookIfUsed(): Promise<void> {
    if (this.begunAt === -Infinity || this.isUsed()) await this.look();
  }

  private look(): Promise<void> {
    this.looking ??= this.ask().finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async ask(): Promise<void> {
    this.begunAt = performance.now();
    const { client, host } = this.options;
    const answer = await askForOffer(client, host, { known: this.digest }, this.over.signal);
    if (answer.tools === null) return;
    this.offer(answer);
    try {
      writeJson(this.file, answer);
    } catch (err) {
      this.warn('the tools of the agents could not be kept', { reason: reasonOf(err) });
    }
  }

  private offer({ digest, tools, leftOut }: ToolsOffer): void {
    this.options.source.replace(tools ?? []);
    this.digest = digest;
    if (leftOut.count > 0)
      this.warn('the agents have too many tools: scripts here cannot call all of them', leftOut);
  }

  private warn(message: string, facts: object): void {
    if (!this.over.signal.aborted) this.options.log(message, facts);
  }
}
