// Files of one host, for programs: the same transfers as those of `holdfast cp`.
import { localPath, pathOf, shown } from '../names';
import type { Observer, Outcome } from '../outcomes';
import { receiveTree } from '../receiver/receive-tree';
import { sendTree } from '../sender/send-tree';
import type { Channel } from '../channel';
import type { FilesRequest } from '../transfer-messages';
import { interrupted, openFiles, type FilesAddress } from './files-client';

/** A path on the host; a relative one begins in `base`, that in the host's working folder. */
export interface HostPath {
  /** Whose files they are, for the host's audit log. */
  agent: string;
  path: string;
  /** The agent's working folder: `settings.cwd` of its state. */
  base?: string | undefined;
}

export interface CopyOptions {
  /** False: what is there stays. Default true. */
  clobber?: boolean | undefined;
  observer?: Observer | undefined;
  /** An abort interrupts the transfer: the next one goes on. */
  signal?: AbortSignal | undefined;
}

interface Transfer {
  agent: string;
  request: FilesRequest;
  work: (channel: Channel, observer: Observer) => Promise<void>;
}

export class HostFiles {
  /** @param at the data folder that serves the host on this machine, or where it listens, and its token */
  constructor(
    private readonly host: string,
    private readonly at: FilesAddress,
  ) {}

  /**
   * Copies a file or folder of this machine to the host. Resolves with what came of each entry: one that failed does not
   * end the others. Throws `files_unreachable`, `transfer_interrupted`, and what the host refuses it with.
   */
  copyIn(from: string, to: HostPath, { clobber = true, ...options }: CopyOptions = {}): Promise<Outcome[]> {
    const request: FilesRequest = { is: 'put', clobber, ...placeOf(to) };
    const send = (channel: Channel, observer: Observer): Promise<void> =>
      sendTree(channel, { path: localPath(from, process.cwd()), observer });
    return this.transfer({ agent: to.agent, request, work: send }, options);
  }

  /** The same, from the host to this machine. */
  copyOut(from: HostPath, to: string, { clobber = true, ...options }: CopyOptions = {}): Promise<Outcome[]> {
    const request: FilesRequest = { is: 'get', ...placeOf(from) };
    const receive = (channel: Channel, observer: Observer): Promise<void> =>
      receiveTree(channel, { target: localPath(to, process.cwd()), clobber, observer });
    return this.transfer({ agent: from.agent, request, work: receive }, options);
  }

  private async transfer(
    { agent, request, work }: Transfer,
    { observer, signal }: CopyOptions,
  ): Promise<Outcome[]> {
    signal?.throwIfAborted();
    const { host, at } = this;
    const outcomes: Outcome[] = [];
    const channel = await openFiles(at, { agent, host, request });
    const close = (): void => channel.close();
    signal?.addEventListener('abort', close);
    try {
      // An abort was not heard while it connected.
      signal?.throwIfAborted();
      await work(channel, collecting(outcomes, observer));
      return outcomes;
    } catch (err) {
      signal?.throwIfAborted();
      throw interrupted(err, { host });
    } finally {
      signal?.removeEventListener('abort', close);
      close();
    }
  }
}

const placeOf = ({ path, base }: HostPath): Pick<FilesRequest, 'path' | 'base'> => ({
  path: pathOf(path),
  base: base === undefined ? null : pathOf(base),
});

/** Paths are shown as text. */
const collecting = (outcomes: Outcome[], observer: Observer | undefined): Observer => ({
  began: (path, size) => observer?.began?.(shown(path), size),
  moved: (bytes) => observer?.moved?.(bytes),
  wasThere: (bytes) => observer?.wasThere?.(bytes),
  ended: (outcome) => {
    const reported = { ...outcome, path: shown(outcome.path) };
    outcomes.push(reported);
    observer?.ended?.(reported);
  },
});
