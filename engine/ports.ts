// Chooses the server's ports. A free port can be taken between the choice and its use: the caller must cope.
import { createServer } from 'node:net';
import { HoldfastError } from '../contracts/errors';

/** The only address that the server listens on. */
export const LOOPBACK = '127.0.0.1';

/** Ports of one server: gRPC, web UI, HTTP API. */
export interface EnginePorts {
  port: number;
  uiPort: number;
  httpPort: number;
}

/** Ports that the user named; never replaced by others. */
export type NamedPorts = Partial<Pick<EnginePorts, 'port' | 'uiPort'>>;

const USUAL: EnginePorts = { port: 7233, uiPort: 8233, httpPort: 7243 };

/**
 * Other ports lie some hundreds above the usual ones: below the ports that the system gives to outgoing connections.
 * From among those, a client that keeps calling a server which is down can be given the very port that it calls,
 * connects to itself, and keeps the server from coming back.
 */
const STEP = 100;
const STEPS = 200;
const TRIES = 50;

/**
 * Chooses each port: the named one, else the one that the server had before (its workers look for it there),
 * else the usual one, else any free one. Throws `port_in_use` for a named port that is taken.
 */
export async function choosePorts(
  named: NamedPorts,
  before: Partial<EnginePorts> = {},
): Promise<EnginePorts> {
  for (const port of [named.port, named.uiPort]) {
    if (port !== undefined && !(await isPortFree(port)))
      throw new HoldfastError('port_in_use', { got: port });
  }
  const taken = new Set([named.port, named.uiPort]);
  const choose = async (key: keyof EnginePorts): Promise<number> => {
    for (const candidate of [before[key], USUAL[key]]) {
      if (candidate !== undefined && !taken.has(candidate) && (await isPortFree(candidate)))
        return claim(candidate);
    }
    for (let tries = 0; tries < TRIES; tries++) {
      // At random, so that two servers that start at once seldom choose the same.
      const candidate = USUAL[key] + STEP * (1 + Math.floor(Math.random() * STEPS));
      if (!taken.has(candidate) && (await isPortFree(candidate))) return claim(candidate);
    }
    throw new HoldfastError('engine_failed', {
      reason: `no free port in ${TRIES} tries`,
      log: 'the ports in use',
    });
  };
  const claim = (port: number): number => {
    taken.add(port);
    return port;
  };
  const port = named.port ?? (await choose('port'));
  const uiPort = named.uiPort ?? (await choose('uiPort'));
  return { port, uiPort, httpPort: await choose('httpPort') };
}

/** True when the port can be listened on now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
