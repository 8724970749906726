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
    for (;;) {
      const any = await anyFreePort();
      if (!taken.has(any)) return claim(any);
    }
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
export async function isPortFree(port: number): Promise<boolean> {
  return (await listenBriefly(port)) !== undefined;
}

async function anyFreePort(): Promise<number> {
  const port = await listenBriefly(0);
  if (port === undefined) throw new Error('the system gives out no port');
  return port;
}

/** The port that was listened on; undefined when it is taken or forbidden. */
function listenBriefly(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(address && typeof address === 'object' ? address.port : undefined));
    });
  });
}
