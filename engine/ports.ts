// Chooses the server's ports. A free port can be taken between the choice and its use: the caller must cope.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { HoldfastError } from '../contracts/errors';
import { BROWSER_BLOCKED_PORTS } from './browser-ports';

/** The only address that the server listens on for others. */
export const LOOPBACK = '127.0.0.1';

/** Ports of one server: what people and clients are told. */
export interface EnginePorts {
  /** gRPC. */
  port: number;
  /** The guard in front of the web UI. */
  uiPort: number;
}

/** What the server cannot do without, and what nobody is told: where a browser does not go. */
export interface HiddenPorts {
  /** The server's own web UI, which answers any Host. */
  ui: { address: string; port: number };
  /** The server's HTTP API, which refuses every Host. */
  httpPort: number;
  metricsPort: number;
}

/** Ports that the user named; never replaced by others. */
export type NamedPorts = Partial<EnginePorts>;

const USUAL: EnginePorts = { port: 7233, uiPort: 8233 };

/**
 * Other ports lie some hundreds above the usual ones: below the ports that the system gives to outgoing connections.
 * From among those, a client that keeps calling a server which is down can be given the very port that it calls,
 * connects to itself, and keeps the server from coming back.
 */
const STEP = 100;
const STEPS = 200;
const TRIES = 50;
/** Where the hidden ports go that browsers are not kept from: apart from both usual ones and their steps. */
const REST = 7243;

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
 * Chooses where the server's own doors are. The web UI is always at a port that browsers do not connect to, and on
 * Linux at a random address of the loopback network besides. The other two are there as long as such ports are free:
 * the HTTP API refuses everything by itself, the metrics name no more than types and task queues.
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
    // Of another address, so it takes no port from the others.
    const port = await blockedPort(address, new Set());
    if (port !== undefined) return { address, port };
  }
  const port = await blockedPort(LOOPBACK, taken);
  if (port !== undefined) return { address: LOOPBACK, port };
  const reason = `the web UI needs one of the ports ${BROWSER_BLOCKED_PORTS.join(', ')}, which browsers do not connect to; all are in use`;
  throw new HoldfastError('engine_failed', { reason, log: 'the ports in use' });
}

/** Claims a port that browsers do not connect to; undefined where none is free. */
async function blockedPort(address: string, taken: Set<number | undefined>): Promise<number | undefined> {
  // From a random one on, so that two servers that start at once seldom choose the same.
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
