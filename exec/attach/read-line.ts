// The lines of JSON that both sides of a connection to a host send first; frames follow.
import type { Socket } from 'node:net';

const MAX_BYTES = 8 * 1024;

/** Leaves anything after the line for the next reader. Rejects at the timeout, the limit, or the other side's end. */
export function readLine(socket: Socket, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let got = Buffer.alloc(0);
    const over = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose).pause();
      settle();
    };
    const fail = (reason: string): void => over(() => reject(new Error(reason)));
    const onClose = (): void => fail('the other side ended the connection');
    const onData = (chunk: Buffer): void => {
      got = Buffer.concat([got, chunk]);
      const end = got.indexOf('\n');
      if (end < 0 && got.length <= MAX_BYTES) return;
      if (end < 0 || end > MAX_BYTES) return fail(`its line is longer than ${MAX_BYTES} bytes`);
      over(() => {
        if (end + 1 < got.length) socket.unshift(got.subarray(end + 1));
        try {
          resolve(JSON.parse(got.toString('utf8', 0, end)));
        } catch {
          reject(new Error('its line is not JSON'));
        }
      });
    };
    const timer = setTimeout(() => fail(`nothing arrived within ${timeoutMs} ms`), timeoutMs);
    socket.on('data', onData).on('close', onClose).resume();
  });
}
