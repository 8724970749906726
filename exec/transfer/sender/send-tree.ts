// The sending side of a transfer: walks a tree, depth first, without following links in it.
import { createHash, type Hash } from 'node:crypto';
import { realpathSync, statSync, type BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { isTemporary } from '../receiver/partial-file';
import { Answers } from '../receiver/receiver-answers';
import { ChannelLost, type Channel } from '../channel';
import type { Entry, Name, Range } from '../transfer-messages';
import { shown, split } from '../names';
import { bytesOf, nameOf, OpenFolder } from '../open-folder';
import { under, type Observer } from '../outcomes';
import { contentId, endsWhereItSays, hashOf, isSame, piecesOf, statsOf, versionOf } from './read-file';
import { fileErrorOf, kindOf, notAFile, sentError } from '../transfer-errors';

/** Smaller files are sent without asking what is there. */
const WORTH_RESUMING = 1024 * 1024;
const ATTEMPTS = 3;
const MODE = 0o7777;

export interface SendOptions {
  /** Absolute; a link there is followed, because somebody has named it. */
  path: Name;
  only?: 'file' | undefined;
  range?: Range | undefined;
  /** Send a file's sum before its bytes. */
  digest?: boolean | undefined;
  observer?: Observer;
}

/** Resolves when the receiver has everything, or got the reason why not. Throws `ChannelLost`, `not_found` and the receiver's error. */
export async function sendTree(channel: Channel, options: SendOptions): Promise<void> {
  const answers = new Answers(channel, options.observer);
  try {
    await new TreeSender(channel, answers, options).run();
    await answers.all();
  } catch (err) {
    throw err instanceof ChannelLost ? await answers.better(err) : err;
  }
}

/** A place in the tree. */
interface At {
  folder: OpenFolder;
  name: Name;
  /** As it is reported: from the root on. */
  path: Name;
}

class TreeSender {
  private n = 0;
  /** The folder that the copy makes. It may lie in the one that is copied. */
  private into: string | undefined;

  constructor(
    private readonly channel: Channel,
    private readonly answers: Answers,
    private readonly options: SendOptions,
  ) {}

  async run(): Promise<void> {
    const { path } = this.options;
    let top: OpenFolder | undefined;
    try {
      const { name } = split(path);
      // The path of a pipe of a process, as `<(...)` gives it, leads to no name.
      const named = statSync(bytesOf(path), { bigint: true });
      if (!named.isFile() && !named.isDirectory()) throw notAFile(path, kindOf(named));
      // Node's own version drops `..` before it follows links, and changes bytes that are no UTF-8.
      const real = split(nameOf(realpathSync.native(bytesOf(path), { encoding: 'buffer' })));
      top = OpenFolder.at(name === '.' ? path : real.folder);
      if (name === '.' || real.name === '.') await this.sendRoot({ folder: top, name: '.', path: name }, '.');
      else await this.sendRoot({ folder: top, name: real.name, path: name }, name);
    } catch (err) {
      throw err instanceof ChannelLost ? err : fileErrorOf(err, 'read', path);
    } finally {
      top?.close();
    }
    await this.channel.send({ is: 'end' });
  }

  private async sendRoot(at: At, name: Name): Promise<void> {
    const stats = at.folder.look(at.name);
    if (!stats) throw gone(at.path);
    if (this.options.only !== undefined && !stats.isFile()) throw notAFile(at.path, kindOf(stats));
    if (!stats.isFile() && !stats.isDirectory()) throw notAFile(at.path, kindOf(stats));
    if (stats.isDirectory()) await this.sendFolder(at, name, stats, { isRoot: true });
    else await this.sendEntry(at, name, stats);
  }

  private async sendEntry(at: At, name: Name, stats: BigIntStats): Promise<void> {
    if (stats.isSymbolicLink()) return this.sendLink(at, stats);
    if (stats.isDirectory()) return this.sendFolder(at, name, stats);
    if (stats.isFile()) return this.sendFile(at, name);
    await this.skip(at.path, kindOf(stats));
  }

  private async skip(path: Name, why: string): Promise<void> {
    await this.channel.send({ is: 'skipping', name: path, why });
    this.options.observer?.ended?.({ is: 'skipped', path, why });
  }

  private async sendLink({ folder, name, path }: At, stats: BigIntStats): Promise<void> {
    try {
      await this.announce(path, { name, kind: 'link', size: null, target: folder.linkTarget(name) }, stats);
    } catch (err) {
      await this.sendBroken(path, err);
    }
  }

  private async sendFolder(
    { folder, name, path }: At,
    sentName: Name,
    stats: BigIntStats,
    { isRoot } = { isRoot: false },
  ): Promise<void> {
    let inside: OpenFolder;
    let names: Name[];
    try {
      inside = folder.folder(name);
      names = inside.names();
    } catch (err) {
      return this.sendBroken(path, err);
    }
    try {
      if (!isRoot && this.into !== undefined && inside.identity === this.into)
        return await this.skip(path, 'this copy itself');
      const n = await this.announce(path, { name: sentName, kind: 'folder', size: null }, stats);
      if (isRoot) this.into = await this.placeOf(n);
      for (const name of names) {
        const below = under(path, name);
        if (isTemporary(name)) {
          await this.skip(below, 'a part of a copy');
          continue;
        }
        const found = inside.look(name);
        if (found) await this.sendEntry({ folder: inside, name, path: below }, name, found);
        else await this.sendBroken(below, gone(below));
      }
      await this.channel.send({ is: 'leave' });
    } finally {
      inside.close();
    }
  }

  private async sendFile({ folder, name, path }: At, sentName: Name): Promise<void> {
    let file: FileHandle;
    try {
      file = await folder.read(name);
    } catch (err) {
      return this.sendBroken(path, err);
    }
    const n = this.n;
    try {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        if (await this.sendOnce(file, path, sentName)) return;
        if (attempt < ATTEMPTS) await this.channel.send({ is: 'again', n: this.n - 1 });
        this.answers.forget(this.n - 1);
      }
      await this.sendBroken(path, changed(path), this.n - 1);
    } catch (err) {
      if (err instanceof ChannelLost || err instanceof HoldfastError) throw err;
      await this.sendBroken(path, err, Math.max(n, this.n - 1));
    } finally {
      await file.close();
    }
  }

  /** False if the file changed meanwhile. */
  private async sendOnce(file: FileHandle, path: Name, name: Name): Promise<boolean> {
    const before = await statsOf(file);
    if (!before.isFile()) throw notAFile(path, kindOf(before));
    if (!(await endsWhereItSays(file, before))) return this.sendUnsized(file, { path, name }, before);
    const { digest, observer } = this.options;
    const whole = Number(before.size);
    const version = versionOf(before);
    const range = rangeOf(this.options.range, whole, version);
    const { from, to } = range ?? { from: 0, to: whole };
    const id = whole >= WORTH_RESUMING && !range ? await contentId(file, before) : undefined;
    const n = await this.announce(
      path,
      {
        ...{ name, kind: 'file', size: to - from, version },
        ...(id !== undefined && { id }),
        ...(range && { range: { ...range, size: whole } }),
        ...(digest && { sha256: (await hashOf(file, 0, whole)).digest('hex') }),
      },
      before,
    );
    observer?.began?.(path, to - from);
    const start = id === undefined ? { offset: 0, hash: createHash('sha256') } : await this.start(file, n);
    if (!start) return true;
    const sent = await this.sendBytes(n, start.hash, piecesOf(file, from + start.offset, to));
    if (sent === undefined) return true;
    const bytes = start.offset + sent;
    if (!isSame(before, await statsOf(file)) || bytes !== to - from) return false;
    await this.channel.send({ is: 'sum', n, sha256: start.hash.digest('hex'), bytes });
    return true;
  }

  /** A file of /proc or /sys: what it holds is known once it is read, so it has no parts, no sum before, and no version. */
  private async sendUnsized(
    file: FileHandle,
    { path, name }: { path: Name; name: Name },
    before: BigIntStats,
  ): Promise<boolean> {
    const n = await this.announce(path, { name, kind: 'file', size: null }, before);
    this.options.observer?.began?.(path, null);
    const hash = createHash('sha256');
    const bytes = await this.sendBytes(n, hash, piecesOf(file, 0, Infinity));
    if (bytes === undefined) return true;
    if (!isSame(before, await statsOf(file))) return false;
    this.answers.setBytes(n, bytes);
    await this.channel.send({ is: 'sum', n, sha256: hash.digest('hex'), bytes });
    return true;
  }

  /** Returns how many there were; undefined once the receiver wants no more. */
  private async sendBytes(n: number, hash: Hash, pieces: AsyncIterable<Buffer>): Promise<number | undefined> {
    let bytes = 0;
    for await (const piece of pieces) {
      if (!this.answers.isWanted(n)) return undefined;
      hash.update(piece);
      await this.channel.sendData(piece);
      this.options.observer?.moved?.(piece.length);
      bytes += piece.length;
    }
    return bytes;
  }

  /** Which folder the entries of folder `n` go into. */
  private async placeOf(n: number): Promise<string | undefined> {
    const answer = await this.answers.of(n);
    return answer.is === 'done' ? answer.into : undefined;
  }

  /** Where the receiver's part of the file ends, if its bytes are the file's. Undefined if it wants none. */
  private async start(file: FileHandle, n: number): Promise<{ offset: number; hash: Hash } | undefined> {
    const answer = await this.answers.of(n);
    if (answer.is !== 'from') return undefined;
    const hash = await hashOf(file, 0, answer.offset);
    const isOurs = hash.copy().digest('hex') === answer.sha256;
    const offset = isOurs ? answer.offset : 0;
    await this.channel.send({ is: 'go', n, offset });
    this.options.observer?.wasThere?.(offset);
    return { offset, hash: isOurs ? hash : createHash('sha256') };
  }

  /** Returns the entry's number. */
  private async announce(
    path: Name,
    entry: Omit<Entry, 'is' | 'n' | 'mode'>,
    stats: BigIntStats,
  ): Promise<number> {
    const n = this.n++;
    const mode = Number(stats.mode) & MODE;
    this.answers.expect(n, { path, kind: entry.kind, bytes: entry.size ?? 0, mode });
    await this.channel.send({ is: 'entry', n, mode, ...entry });
    return n;
  }

  private async sendBroken(path: Name, err: unknown, n = this.n++): Promise<void> {
    if (err instanceof ChannelLost) throw err;
    const error = sentError(fileErrorOf(err, 'read', path));
    this.answers.forget(n);
    await this.channel.send({ is: 'broken', n, name: path, error });
    this.options.observer?.ended?.({ is: 'failed', path, error });
  }
}

/** Throws `range_unsatisfiable`. */
function rangeOf(
  range: Range | undefined,
  size: number,
  version: string,
): { from: number; to: number } | undefined {
  if (!range || (range.ifVersion !== undefined && range.ifVersion !== version)) return undefined;
  const from = range.from < 0 ? Math.max(0, size + range.from) : range.from;
  const to = range.to === null ? size : Math.min(range.to, size);
  if (from < to) return { from, to };
  throw new HoldfastError('range_unsatisfiable', { got: `${range.from}-${range.to ?? ''}`, size });
}

const gone = (path: Name): HoldfastError =>
  new HoldfastError('not_found', { what: 'The file', got: shown(path), next: 'It was removed meanwhile.' });

const changed = (path: Name): HoldfastError =>
  new HoldfastError('file_changed', { got: shown(path), attempts: ATTEMPTS });
