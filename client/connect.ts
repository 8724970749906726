// Connects to the Temporal server that flags, environment or a Temporal profile name.
import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { closableRequests, keepContact, type Contact } from './delivery/closed-connection';
import { messageInterceptors } from './delivery/traced-client';

export interface ServerChoice {
  /** `host:port`; default: TEMPORAL_ADDRESS or the profile. */
  address?: string | undefined;
  namespace?: string | undefined;
  /** Profile in the Temporal configuration file, with TLS and API key if it has them. */
  profile?: string | undefined;
}

export interface ResolvedServer {
  address: string;
  namespace: string;
  /** Whether a server was named at all: otherwise the embedded one is meant. */
  isConfigured: boolean;
  connection: Parameters<typeof Connection.connect>[0];
}

const CONNECT_MS = 10_000;
/** Two minutes by default: so long would a server that is back not be found. */
const FIND_AGAIN_MS = 1_000;
/** Whether an address leads to the machine on which it is used. No proxy reaches it: there it would be the proxy's own. */
export const isThisMachine = (address: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])(:|$)/.test(address);

/** Flags over environment over profile. Throws `config_invalid` for a profile that cannot be read. */
export function resolveServer(choice: ServerChoice, env: NodeJS.ProcessEnv): ResolvedServer {
  try {
    const config = loadClientConnectConfig({
      ...(choice.profile && { profile: choice.profile }),
      overrideEnvVars: Object.fromEntries(
        Object.entries(env).filter((e): e is [string, string] => e[1] !== undefined),
      ),
    });
    const { connectionOptions, namespace } = config;
    const address = choice.address ?? connectionOptions.address;
    return {
      address: address ?? 'localhost:7233',
      namespace: choice.namespace ?? namespace ?? 'default',
      isConfigured: address !== undefined,
      connection: { ...connectionOptions, ...(address && { address }) },
    };
  } catch (err) {
    throw new HoldfastError('config_invalid', { faults: `Temporal profile: ${reasonOf(err)}` });
  }
}

interface ConnectOptions {
  /** Encrypts payloads. */
  dataConverter?: DataConverter | undefined;
  /** How long requests are repeated while the server is away. Default: as the SDK does it. */
  patienceMs?: number | undefined;
  /** Whether a message that belongs to no trace begins one. Default false. */
  startsTraces?: boolean | undefined;
  /** Further interceptors of its messages. */
  interceptors?: readonly WorkflowClientInterceptor[] | undefined;
}

/** Throws `no_server` if nothing answers within ten seconds, and `invalid_input` for a converter that cannot be loaded. */
export async function connectTemporal(
  server: Pick<ResolvedServer, 'address' | 'namespace' | 'connection'>,
  { dataConverter, patienceMs, startsTraces, interceptors }: ConnectOptions = {},
): Promise<Client> {
  const { address, namespace } = server;
  const contact: Contact = {};
  let connection: Connection;
  try {
    connection = await Connection.connect({
      interceptors: closableRequests(contact, patienceMs),
      ...server.connection,
      channelArgs: {
        'grpc.initial_reconnect_backoff_ms': FIND_AGAIN_MS,
        'grpc.max_reconnect_backoff_ms': FIND_AGAIN_MS,
        ...(isThisMachine(address) && { 'grpc.enable_http_proxy': 0 }),
        ...server.connection?.channelArgs,
      },
      address,
      connectTimeout: CONNECT_MS,
    });
  } catch (err) {
    throw new HoldfastError('no_server', { address, reason: reasonOf(err).replace(/\n.*/s, '') });
  }
  keepContact(connection, contact);
  try {
    return new Client({
      connection,
      namespace,
      ...(dataConverter && { dataConverter }),
      ...messageInterceptors(dataConverter, startsTraces, interceptors),
    });
  } catch (err) {
    await connection.close();
    // The server is there: a converter's path leads nowhere, or to something else.
    throw new HoldfastError('invalid_input', {
      what: 'The data converter',
      got: reasonOf(err),
      allowed: 'codecs and converters that can be loaded',
    });
  }
}
