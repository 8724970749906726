// A port for a server that is started later, or stopped and started again.
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that the system gives to outgoing connections: one of those is somebody's a moment later. Above those
 * of the tests' Temporal servers.
 */
const LOWEST = 30_000;
const HIGHEST = 32_767;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
