// Transfers between two folders of a test, with both sides in this process; and trees to compare.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Channel } from '../../../exec/transfer/channel';
import { pathOf } from '../../../exec/transfer/names';
import type { Observer, Outcome } from '../../../exec/transfer/outcomes';
import { receiveTree, type ReceiveOptions } from '../../../exec/transfer/receiver/receive-tree';
import { sendTree, type SendOptions } from '../../../exec/transfer/sender/send-tree';

/** The two ends of a connection. */
export async function channelPair(): Promise<[Channel, Channel]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  server.close();
  for (const socket of [near, far]) socket.on('error', () => socket.destroy());
  return [new Channel(near, near), new Channel(far, far)];
}

/** What came of each entry, and how many bytes travelled. */
export class Seen implements Observer {
  readonly outcomes: Outcome[] = [];
  bytes = 0;
  thereBefore = 0;
  began?: Observer['began'];

  moved(bytes: number): void {
    this.bytes += bytes;
  }

  wasThere(bytes: number): void {
    this.thereBefore += bytes;
  }

  ended(outcome: Outcome): void {
    this.outcomes.push(outcome);
  }

  /** Paths by what came of them. */
  of(is: Outcome['is']): string[] {
    return this.outcomes.filter((one) => one.is === is).map(({ path }) => path);
  }
}

export interface Copied {
  sender: Seen;
  receiver: Seen;
}

/** Rejects with the first error of either side. */
export async function copy(
  from: string,
  to: string,
  more: Partial<Omit<SendOptions, 'path' | 'observer'> & Omit<ReceiveOptions, 'target' | 'observer'>> = {},
): Promise<Copied> {
  const [a, b] = await channelPair();
  const [sender, receiver] = [new Seen(), new Seen()];
  const { clobber = true, ...rest } = more;
  const received = receiveTree(b, { target: pathOf(to), clobber, observer: receiver, ...rest });
  const sent = sendTree(a, { path: pathOf(from), observer: sender, ...rest });
  const close = (): void => (a.close(), b.close());
  received.catch(close);
  sent.catch(close);
  try {
    await Promise.all([received, sent]);
  } finally {
    await Promise.allSettled([received, sent]);
    close();
  }
  return { sender, receiver };
}

/** Each entry below a folder: its kind, its mode, and its content or where it leads. Names are bytes. */
export function treeOf(folder: Buffer | string): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (path: Buffer, told: string): void => {
    const stats = lstatSync(path);
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isSymbolicLink())
      found[told] = `link ${readlinkSync(path, { encoding: 'buffer' }).toString('latin1')}`;
    else if (stats.isFile())
      found[told] = `file ${mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
    else if (stats.isDirectory()) {
      found[told] = `folder ${mode}`;
      for (const name of readdirSync(path, { encoding: 'buffer' }))
        look(Buffer.concat([path, Buffer.from('/'), name]), `${told}/${name.toString('latin1')}`);
    } else found[told] = 'other';
  };
  look(Buffer.from(folder), '');
  return found;
}
