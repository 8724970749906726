// The files of a transfer that are received: their bytes, their sums, and putting them in place, several at a time.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { Channel } from '../channel';
import { shown } from '../names';
import type { OpenFolder } from '../open-folder';
import { notCopied } from '../outcomes';
import { CONTENT_ID, PartialFile } from './partial-file';
import type { ReceiverReports } from './receiver-reports';
import { checkReplaceable, fileErrorOf, unexpected } from '../transfer-errors';
import type { Entry, Message, Name } from '../transfer-messages';

/** Files whose last writes are under way. */
const MAX_COMMITS = 16;

interface Current {
  entry: Entry;
  path: Name;
  partial: PartialFile;
}

export class ReceivedFiles {
  /** Bytes that come while there is none are dropped. */
  private current: Current | undefined;
  private readonly commits = new Set<Promise<void>>();
  private failure: HoldfastError | undefined;

  constructor(
    private readonly channel: Channel,
    private readonly reports: ReceiverReports,
    private readonly clobber: boolean,
  ) {}

  /** Throws file system errors, and `file_failed` if something else than a file is in the way. */
  async begin(entry: Entry, path: Name, folder: OpenFolder): Promise<void> {
    const { n, id, size, name } = entry;
    checkReplaceable(path, folder.look(name));
    if (id !== undefined && (!CONTENT_ID.test(id) || !isSize(size))) throw unexpected('an id');
    const content = id !== undefined && isSize(size) ? { id, size } : undefined;
    const partial = await PartialFile.open(folder, content);
    this.current = { entry, path, partial };
    this.reports.observer?.began?.(path, size);
    if (content) await this.channel.send({ is: 'from', n, offset: partial.size, sha256: partial.sha256 });
  }

  /** What is there is cut where the sender goes on. */
  async goOn(n: number, offset: number): Promise<void> {
    const { current } = this;
    if (current?.entry.n !== n) return;
    if (!isSize(offset) || offset > current.partial.size) throw unexpected('an offset');
    await current.partial.cutAt(offset);
    this.reports.observer?.wasThere?.(offset);
  }

  async take(data: Buffer): Promise<void> {
    const { current } = this;
    if (!current) return;
    const { entry, path, partial } = current;
    try {
      if (entry.size !== null && partial.size + data.length > entry.size) throw unexpected('more bytes');
      await partial.append(data);
      this.reports.observer?.moved?.(data.length);
    } catch (err) {
      // On a full disk others need the room more than the next attempt does.
      await this.drop();
      await this.reports.fail(entry, path, fileErrorOf(err, 'written', path));
    }
  }

  async finish({ n, sha256, bytes }: Extract<Message, { is: 'sum' }>): Promise<void> {
    const { current } = this;
    if (current?.entry.n !== n) return;
    const { entry, path, partial } = current;
    this.current = undefined;
    const own = partial.sha256;
    if (own !== sha256 || partial.size !== bytes) {
      await partial.discard();
      const error = new HoldfastError('checksum_mismatch', { got: own, allowed: sha256, path: shown(path) });
      return this.reports.fail(entry, path, error);
    }
    const committed = this.commit(entry, path, partial).finally(() => this.commits.delete(committed));
    this.commits.add(committed);
    if (this.commits.size >= MAX_COMMITS) await Promise.race(this.commits);
  }

  /** Never rejects: what fails is reported. */
  private async commit(entry: Entry, path: Name, partial: PartialFile): Promise<void> {
    const { clobber, reports } = this;
    const { n, name, isModeless } = entry;
    try {
      const { sha256, size } = partial;
      const mode = isModeless ? 'own' : entry.mode;
      await partial.commit(name, { mode, clobber });
      reports.observer?.ended?.({ is: 'done', path, kind: 'file', bytes: size, sha256, ...notCopied(entry) });
      await this.channel.send({ is: 'done', n, sha256 });
    } catch (err) {
      const isThere = !clobber && (err as NodeJS.ErrnoException).code === 'EEXIST';
      const answer = isThere
        ? reports.answer(entry, path, { is: 'skipped', n, why: 'it exists' })
        : reports.fail(entry, path, fileErrorOf(err, 'written', path));
      await answer.catch((failed: unknown) => {
        if (failed instanceof HoldfastError) this.failure = failed;
      });
    }
  }

  /** Drops the file of one entry, or of the one that is under way. */
  async drop(n = this.current?.entry.n): Promise<void> {
    if (this.current?.entry.n !== n) return;
    await this.current?.partial.discard();
    this.current = undefined;
  }

  /** What came of an unfinished file stays for the next transfer. */
  async close(): Promise<void> {
    await this.current?.partial.keep();
    await this.settle();
  }

  /** Throws what would meet every further file. */
  checkFailure(): void {
    if (this.failure) throw this.failure;
  }

  /** Until the files that have come are in place. */
  async settle(): Promise<void> {
    await Promise.all(this.commits);
  }
}

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
