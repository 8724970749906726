// Adds contents, trees and commits to the store, with one `git fast-import`. Nothing of it can be seen before `finish`:
// if this process is killed, git's input ends without `done`, and git drops all.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { toBytes, type BytePath } from '../byte-path';
import { GitFailure, lastWords, type Git } from './git-run';

const BATCH_BYTES = 64 * 1_024;
/** The same files have the same id: neither who nor when is part of it. */
const NO_AUTHOR = 'Holdfast <holdfast@localhost> 0 +0000';
const MARK = ':1';

/** A git mode with the content's id; null: deleted. */
export type TreeChange = readonly [path: BytePath, entry: { mode: number; oid: string } | null];

export interface CommitPlan {
  /** The tree that the changes are made to; null: none. */
  base: string | null;
  changes: Iterable<TreeChange>;
  message: string;
  /** The ref that makes the commit stay, and what it was: null if it is new. */
  keeper: { ref: string; tip: string | null; message: string };
}

export interface Committed {
  commit: string;
  tree: string;
  /** What the keeper's ref is now. */
  tip: string;
}

/** The id that git gives a content, of the bytes that follow the returned hash's beginning. */
export const blobHash = (bytes: number): Hash => createHash('sha1').update(`blob ${bytes}\0`);

export class ObjectWriter {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly said: () => string;
  private readonly answers: AsyncIterator<string>;
  private readonly ended: Promise<[code: number | null, signal: string | null]>;
  private batch: Buffer[] = [];
  private batched = 0;
  /** Bytes of contents so far. */
  bytes = 0;

  constructor(git: Git) {
    this.child = git.start(['fast-import', '--quiet', '--done', '--force', '--date-format=raw', '--depth=0']);
    this.said = lastWords(this.child);
    this.ended = once(this.child, 'close') as typeof this.ended;
    this.ended.catch(() => undefined);
    this.child.stdin.on('error', () => undefined);
    this.answers = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  /** Adds a content. */
  async blob(content: Buffer): Promise<void> {
    this.bytes += content.length;
    await this.write(`blob\ndata ${content.length}\n`);
    await this.write(content);
    await this.write('\n');
  }

  /** Adds a content of exactly this many bytes, piece by piece. */
  async stream(bytes: number, pieces: AsyncIterable<Buffer>): Promise<void> {
    this.bytes += bytes;
    await this.write(`blob\ndata ${bytes}\n`);
    for await (const piece of pieces) await this.write(piece);
    await this.write('\n');
  }

  /** Adds a checkpoint's commit and makes it stay. Throws `GitFailure`; then nothing was added. */
  async finish(plan: CommitPlan): Promise<Committed> {
    const { base, changes, message, keeper } = plan;
    await this.write(`commit refs/unkept\nmark ${MARK}\ncommitter ${NO_AUTHOR}\n${data(message)}`);
    // A branch that this process has not seen begins without a parent.
    if (base !== null) await this.write(`M 040000 ${base} ""\n`);
    for (const [path, entry] of changes)
      await this.write(
        entry === null ? `D ${quoted(path)}\n` : `M ${entry.mode.toString(8)} ${entry.oid} ${quoted(path)}\n`,
      );
    const commit = await this.ask(`\nget-mark ${MARK}\n`);
    const tree = /^040000 tree ([0-9a-f]{40})/.exec(await this.ask(`ls ${MARK} ""\n`))?.[1];
    if (tree === undefined) throw await this.failure('no tree');
    const tip = await this.keep(keeper, { commit: MARK, tree });
    await this.write('reset refs/unkept\n\n');
    await this.end();
    return { commit, tree, tip };
  }

  /** Makes a commit stay that exists. */
  async finishKeeping(keeper: CommitPlan['keeper'], kept: { commit: string; tree: string }): Promise<string> {
    const tip = await this.keep(keeper, kept);
    await this.end();
    return tip;
  }

  /** Drops all. */
  abandon(): void {
    this.child.kill('SIGKILL');
  }

  /** A commit of our own on top of the last one, with the checkpoint as another parent: so `git log` shows the steps. */
  private async keep(
    { ref, tip, message }: CommitPlan['keeper'],
    { commit, tree }: { commit: string; tree: string },
  ): Promise<string> {
    const seconds = Math.floor(Date.now() / 1_000);
    const [who] = NO_AUTHOR.split(' 0 ');
    await this.write(`commit ${ref}\nmark :2\ncommitter ${who} ${seconds} +0000\n${data(message)}`);
    await this.write(tip === null ? `from ${commit}\n` : `from ${tip}\nmerge ${commit}\n`);
    await this.write(`M 040000 ${tree} ""\n\n`);
    return this.ask('get-mark :2\n');
  }

  private async ask(question: string): Promise<string> {
    await this.write(question);
    await this.flush();
    const answer = await this.answers.next();
    if (answer.done) throw await this.failure('no answer');
    return answer.value;
  }

  private async end(): Promise<void> {
    await this.write('done\n');
    await this.flush();
    this.child.stdin.end();
    const [code, signal] = await this.ended;
    if (code !== 0) throw new GitFailure('fast-import', code ?? signal ?? 'no code', this.said());
  }

  private async failure(what: string): Promise<GitFailure> {
    this.child.stdin.end();
    const [code, signal] = await this.ended;
    return new GitFailure('fast-import', code ?? signal ?? what, this.said());
  }

  private async write(piece: string | Buffer): Promise<void> {
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece;
    this.batch.push(bytes);
    this.batched += bytes.length;
    if (this.batched >= BATCH_BYTES) await this.flush();
  }

  private async flush(): Promise<void> {
    const { stdin } = this.child;
    const whole = Buffer.concat(this.batch.splice(0));
    this.batched = 0;
    if (!stdin.writable) throw await this.failure('closed');
    if (!stdin.write(whole)) await Promise.race([once(stdin, 'drain'), this.ended]);
    if (this.child.exitCode !== null) throw await this.failure('ended');
  }
}

const data = (text: string): string => `data ${toBytes(text).length}\n${text}\n`;

/** As fast-import reads paths: quoted like strings of C. */
const quoted = (path: BytePath): string =>
  `"${path.replace(/[^ !#-[\]-~]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`;
