// Chooses the server's ports. A free port can be taken between the choice and its use: the caller must cope with that.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { BROWSER_BLOCKED_PORTS } from './ui-guard/browser-ports';

/** The only address on which the server accepts others. */
export const LOOPBACK = '127.0.0.1';

/** Public ports of one server, for people and clients. */
export interface EnginePorts {
  /** gRPC. */
  port: number;
  /** The guard in front of the web UI. */
  uiPort: number;
}

/** Ports that the server cannot do without but that are not published: those that browsers refuse. */
export interface HiddenPorts {
  /** The server's own web UI, which answers any Host. */
  ui: { address: string; port: number };
  /** The server's HTTP API, which refuses every Host. */
  httpPort: number;
  metricsPort: number;
}

/** Ports that the user named; never replaced. */
export type NamedPorts = Partial<EnginePorts>;

const USUAL: EnginePorts = { port: 7233, uiPort: 8233 };

/**
 * Other ports are some hundreds above the default ones: below the range for outgoing connections. In that range, a
 * client that keeps calling a server that is down could be given the called port as its own, connect to itself, and
 * keep the server from coming back.
 */
const STEP = 100;
const STEPS = 200;
const TRIES = 50;
/** Start for hidden ports that browsers can reach: away from both default ports and their steps. */
const REST = 7243;

/**
 * Chooses each port: the named one, else the server's previous one (its workers look for it there), else the default,
 * else any free one; without `usual` no default. Throws `port_in_use` for a named port that is taken.
 */
export async function choosePorts(
  named: NamedPorts,
  before: Partial<EnginePorts> = {},
  { usual = true }: { usual?: boolean } = {},
): Promise<EnginePorts> {
  for (const [option, port] of [
    ['--port', named.port],
    ['--ui-port', named.uiPort],
  ] as const) {
    if (port === undefined || (await isPortFree(port))) continue;
    const next = `Omit ${option} to use any free port, or name another with it.`;
    throw new HoldfastError('port_in_use', { got: port, next });
  }
  const taken = new Set([named.port, named.uiPort]);
  const choose = async (key: keyof EnginePorts): Promise<number> => {
    for (const candidate of [before[key], usual ? USUAL[key] : undefined]) {
      if (candidate !== undefined && !taken.has(candidate) && (await isPortFree(candidate))) {
        taken.add(candidate);
        return candidate;
      }
    }
    return freePortAbove(USUAL[key], taken);
  };
  const port = named.port ?? (await choose('port'));
  return { port, uiPort: named.uiPort ?? (await choose('uiPort')) };
}

/**
 * Chooses the server's own ports. The web UI always gets a port that browsers refuse, and on Linux also a random
 * address of the loopback network. The other two get such ports while some are free: the HTTP API refuses everything
 * anyway, and the metrics reveal only types and task queues.
 */
export async function chooseHiddenPorts({ port, uiPort }: EnginePorts): Promise<HiddenPorts> {
  const taken = new Set([port, uiPort]);
  const ui = await uiAddress(taken);
  const choose = async (): Promise<number> =>
    (await blockedPort(LOOPBACK, taken)) ?? (await freePortAbove(REST, taken));
  return { ui, httpPort: await choose(), metricsPort: await choose() };
}

async function uiAddress(taken: Set<number | undefined>): Promise<HiddenPorts['ui']> {
  if (process.platform === 'linux') {
    const address = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
    // At another address, so it takes no port from the others.
    const port = await blockedPort(address, new Set());
    if (port !== undefined) return { address, port };
  }
  const port = await blockedPort(LOOPBACK, taken);
  if (port !== undefined) return { address: LOOPBACK, port };
  const reason = `the web UI needs one of the ports ${BROWSER_BLOCKED_PORTS.join(', ')}, which browsers do not connect to; all are in use`;
  throw new HoldfastError('engine_failed', { reason, log: 'the ports in use' });
}

/** Claims a port that browsers refuse; undefined if none is free. */
async function blockedPort(address: string, taken: Set<number | undefined>): Promise<number | undefined> {
  // Starts at a random one, so that two servers that start at once seldom choose the same.
  const from = randomInt(BROWSER_BLOCKED_PORTS.length);
  for (const port of [...BROWSER_BLOCKED_PORTS.slice(from), ...BROWSER_BLOCKED_PORTS.slice(0, from)]) {
    if (taken.has(port) || !(await isPortFree(port, address))) continue;
    taken.add(port);
    return port;
  }
  return undefined;
}

async function freePortAbove(usual: number, taken: Set<number | undefined>): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    // At random, so that two servers that start at once seldom choose the same.
    const candidate = usual + STEP * (1 + randomInt(STEPS));
    if (taken.has(candidate) || !(await isPortFree(candidate))) continue;
    taken.add(candidate);
    return candidate;
  }
  const reason = `no free port in ${TRIES} tries`;
  throw new HoldfastError('engine_failed', { reason, log: 'the ports in use' });
}

/** True when the port can be listened on now. */
export function isPortFree(port: number, host = LOOPBACK): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
