// Where a session's terminal and log are: on this machine, or on a host that listens.
import { existsSync } from 'node:fs';
import type { SessionRef } from '../../contracts/ids';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { Attachment } from '../../exec/attach/attachment';
import { unreachable } from '../../exec/attach/remote-terminal';
import { logEnd, nextPiece, type Piece } from '../../exec/output/log-reader';
import type { Verbs } from '../../exec/protocol';
import { sessionPaths } from '../../exec/session-paths';
import type { GatewayContext } from '../gateway-context';
import { wayToHost } from './way-to-host';

/** A host that is gone without a word is noticed within a few of these. */
const PULSE_MS = 3_000;

const WATCHES = { typist: null, size: null };

/** When the host goes away, all calls throw `host_unreachable`. */
export interface SessionPlace {
  /** Throws like `Attachment.open`. */
  attach(request: Verbs['attach']['request']): Promise<Attachment>;
  /** A piece of the log, like `nextPiece`. */
  read(from: number, to: number): Promise<Piece>;
  /**
   * Offset of the log's end. Its holder is asked, which first records what somebody has cut off; without one that answers,
   * the files say what is known.
   */
  end(): Promise<number>;
  close(): void;
}

/**
 * Throws `not_found` for a session that this gateway cannot reach, `unknown_host`, and `host_unreachable` for a host that
 * is away.
 */
export async function placeOf(context: GatewayContext, ref: SessionRef): Promise<SessionPlace> {
  const { dataDir, isLocal, isElsewhere, client, hostToken } = context;
  const paths = sessionPaths(dataDir, ref);
  // A host served by this machine keeps its sessions in the data folder, too.
  if (isLocal(ref.host) || (!isElsewhere(ref.host) && existsSync(paths.directory))) {
    if (!existsSync(paths.directory)) throw noTerminal(ref, 'it has none');
    return {
      attach: (request) => Attachment.open(dataDir, ref, request),
      read: (from, to) => Promise.resolve(nextPiece(paths.log, from, to)),
      end: async () => {
        const attachment = await Attachment.open(dataDir, ref, WATCHES).catch(() => undefined);
        attachment?.close();
        return attachment?.state.end ?? logEnd(paths.log);
      },
      close: () => undefined,
    };
  }
  const way = await wayToHost(client, ref, { token: hostToken, pulseMs: PULSE_MS });
  if (!way.terminal) {
    if (way.isAway) throw unreachable(ref, way.why, 'nothing was sent to it');
    throw noTerminal(ref, `host ${ref.host}: ${way.why}`);
  }
  const { terminal } = way;
  return {
    attach: (request) => Attachment.openRemote(terminal, request),
    read: (from, to) => terminal.readUpTo(from, to),
    end: async () => (await terminal.ask('attach', WATCHES).catch(() => undefined))?.end ?? terminal.end(),
    close: () => terminal.close(),
  };
}

const noTerminal = ({ agent, session }: SessionRef, why: string): HoldfastError =>
  new HoldfastError('not_found', {
    what: `The terminal of session ${session} of agent ${agent}`,
    got: why,
    next: 'Run something in the session first; start the host with --listen and the gateway with HOLDFAST_HOST_TOKEN.',
  });
