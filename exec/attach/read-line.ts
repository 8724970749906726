// The lines of JSON that both sides of a connection to a host send first; frames follow.
import type { Socket } from 'node:net';
import { HolderGone } from '../client/holder-client';

const MAX_BYTES = 8 * 1024;

/**
 * Leaves anything after the line for the next reader. Rejects with `HolderGone` at the timeout or the other side's end, and
 * otherwise at the limit, or if it is no JSON.
 */
export function readLine(socket: Socket, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let got = Buffer.alloc(0);
    const over = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose).pause();
      settle();
    };
    const fail = (err: Error): void => over(() => reject(err));
    const onClose = (): void => fail(new HolderGone('the other side ended the connection'));
    const onData = (chunk: Buffer): void => {
      got = Buffer.concat([got, chunk]);
      const end = got.indexOf('\n');
      if (end < 0 && got.length <= MAX_BYTES) return;
      if (end < 0 || end > MAX_BYTES) return fail(new Error(`its line is longer than ${MAX_BYTES} bytes`));
      over(() => {
        if (end + 1 < got.length) socket.unshift(got.subarray(end + 1));
        try {
          resolve(JSON.parse(got.toString('utf8', 0, end)));
        } catch {
          reject(new Error('its line is not JSON'));
        }
      });
    };
    const timer = setTimeout(() => fail(new HolderGone(`nothing arrived within ${timeoutMs} ms`)), timeoutMs);
    socket.on('data', onData).on('close', onClose).resume();
  });
}
