// The receiving side of a transfer: puts entries below a target. It keeps the folder that it is in open, takes single
// names only, and follows no link.
import { randomBytes } from 'node:crypto';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { Channel } from '../channel';
import type { Entry, Message, Name } from '../transfer-messages';
import { checkedName, isBytes, shown } from '../names';
import type { OpenFolder } from '../open-folder';
import { under, type Observer } from '../outcomes';
import { ReceivedFiles } from './received-files';
import { ReceiverReports } from './receiver-reports';
import { targetFor, type Target } from './target-folder';
import { checkReplaceable, fileErrorOf, inTheWay, notAFile, tooDeep, unexpected } from '../transfer-errors';

const MAX_DEPTH = 256;

export interface ReceiveOptions {
  /** Absolute. A folder that exists gets the entry under its own name; else the entry gets this name. */
  target: Name;
  /** False: what is there stays. */
  clobber: boolean;
  only?: 'file' | undefined;
  /** File systems on which what is written would not be seen elsewhere. */
  lostOn?: readonly number[];
  observer?: Observer;
}

interface Level {
  folder: OpenFolder;
  path: Name;
  /** The mode to leave it with; null if it was there before, and no interrupted transfer has made it. */
  mode: number | null;
}

type Spot = Pick<Target, 'folder' | 'name'>;

/** Resolves when everything is in place, or reported. Throws `ChannelLost`, and errors that meet all of it. */
export async function receiveTree(channel: Channel, options: ReceiveOptions): Promise<void> {
  const receiver = new TreeReceiver(channel, options);
  try {
    await receiver.run();
  } finally {
    await receiver.close();
  }
}

class TreeReceiver {
  private readonly levels: Level[] = [];
  private top: OpenFolder | undefined;
  /** Depth below a folder that could not be made. */
  private dropped = 0;
  private readonly reports: ReceiverReports;
  private readonly files: ReceivedFiles;

  constructor(
    private readonly channel: Channel,
    private readonly options: ReceiveOptions,
  ) {
    this.reports = new ReceiverReports(channel, options.observer);
    this.files = new ReceivedFiles(channel, this.reports, options.clobber);
  }

  async run(): Promise<void> {
    for (;;) {
      const said = await this.channel.next();
      this.files.checkFailure();
      if (said.is === 'end') break;
      if (said.is === 'data') await this.files.take(said.data);
      else await this.hear(said);
    }
    await this.files.settle();
    await this.top?.sync();
    this.files.checkFailure();
    await this.channel.send({ is: 'ended' });
  }

  async close(): Promise<void> {
    await this.files.close();
    for (const { folder } of this.levels) folder.close();
    this.closeTop();
  }

  private async hear(said: Message): Promise<void> {
    const { files } = this;
    const { observer } = this.options;
    if (said.is === 'entry') return this.enter(said);
    if (said.is === 'go') return files.goOn(said.n, said.offset);
    if (said.is === 'sum') return files.finish(said);
    if (said.is === 'leave') return this.leave();
    if (said.is === 'skipping') return observer?.ended?.({ is: 'skipped', path: said.name, why: said.why });
    if (said.is !== 'again' && said.is !== 'broken') throw unexpected(said.is);
    await files.drop(said.n);
    // The only entry at the top comes again.
    if (said.is === 'again' && this.levels.length === 0) this.closeTop();
    if (said.is === 'broken') observer?.ended?.({ is: 'failed', path: said.name, error: said.error });
  }

  private async enter(entry: Entry): Promise<void> {
    await this.files.drop();
    const { path } = this.levels.at(-1) ?? { path: '' };
    const own = under(path, entry.name);
    if (this.dropped > 0) {
      if (entry.kind === 'folder') this.dropped += 1;
      return this.reports.answer(entry, own, {
        is: 'skipped',
        n: entry.n,
        why: 'its folder could not be made',
      });
    }
    try {
      const { folder, name } = this.placeOf(entry);
      if (entry.kind === 'folder') await this.enterFolder(entry, own, { folder, name });
      else if (name === null) throw inTheWay(own);
      else if (!this.options.clobber && folder.look(name))
        await this.reports.answer(entry, own, { is: 'skipped', n: entry.n, why: 'it exists' });
      else if (entry.kind === 'link') await this.makeLink(entry, own, { folder, name });
      else await this.files.begin({ ...entry, name }, own, folder);
    } catch (err) {
      if (entry.kind === 'folder') this.dropped = 1;
      await this.reports.fail(entry, own, fileErrorOf(err, 'written', own));
    }
  }

  /** Where the entry goes; a `name` of null: into the folder itself. */
  private placeOf({ name, kind }: Entry): Target {
    const level = this.levels.at(-1);
    if (level) return { folder: level.folder, name: checkedName(name), isInside: true };
    if (this.top) throw unexpected('a second entry at the top');
    const isContent = kind === 'folder' && name === '.';
    const { target: path, only } = this.options;
    if (only !== undefined && kind !== 'file') throw notAFile(path, `a ${kind}`);
    const target = targetFor(path, isContent ? null : name, kind);
    this.top = target.folder;
    if (only !== undefined && target.isInside) throw notAFile(path, 'a folder');
    if (!isContent) checkedName(name);
    this.checkDevice(target.folder);
    return target;
  }

  private async enterFolder(entry: Entry, path: Name, { folder, name }: Spot): Promise<void> {
    if (this.levels.length >= MAX_DEPTH) throw tooDeep(path, MAX_DEPTH);
    const isNew = name !== null && !folder.look(name);
    if (isNew) folder.makeFolder(name);
    const own = folder.folder(name ?? '.');
    let isOurs = isNew;
    try {
      this.checkDevice(own);
      if (isNew) own.setUnfinished();
      else isOurs = own.isUnfinished;
    } catch (err) {
      own.close();
      throw err;
    }
    this.levels.push({ folder: own, path, mode: isOurs ? entry.mode : null });
    const into = own.identity;
    await this.reports.answer(entry, path, { is: 'done', n: entry.n, sha256: '', ...(into && { into }) });
  }

  private async makeLink(
    entry: Entry,
    path: Name,
    { folder, name }: { folder: OpenFolder; name: Name },
  ): Promise<void> {
    if (typeof entry.target !== 'string' || !isBytes(entry.target)) throw unexpected('a link');
    checkReplaceable(path, folder.look(name));
    const made = `.holdfast-link.${randomBytes(4).toString('hex')}`;
    folder.makeLink(made, entry.target);
    try {
      folder.rename(made, name);
    } catch (err) {
      folder.remove(made);
      throw err;
    }
    await this.reports.answer(entry, path, { is: 'done', n: entry.n, sha256: '' });
  }

  private async leave(): Promise<void> {
    await this.files.drop();
    if (this.dropped > 0) {
      this.dropped -= 1;
      return;
    }
    await this.files.settle();
    const level = this.levels.pop();
    if (!level) throw unexpected('a leave');
    const { folder, mode } = level;
    try {
      if (mode !== null) folder.setMode(mode);
      await folder.sync();
    } finally {
      folder.close();
    }
  }

  private closeTop(): void {
    this.top?.close();
    this.top = undefined;
  }

  private checkDevice(folder: OpenFolder): void {
    if (this.options.lostOn?.includes(folder.device))
      throw new HoldfastError('file_failed', {
        got: shown(this.options.target),
        action: 'written',
        reason: 'the sandbox makes this folder anew for each program, so nobody would ever see the file',
      });
  }
}
