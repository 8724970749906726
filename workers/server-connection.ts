// The worker's two connections to the server: the native one that polls, and the client.
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { IllegalStateError, type DataConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { connectTemporal, resolveServer, type ServerChoice } from '../client/connect';
import { HoldfastClient } from '../client/holdfast-client';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { messageInterceptors } from '../client/delivery/traced-client';
import { SameShare } from './same-share';

const RETRY_MS = 1_000;

export interface ConnectOptions extends ServerChoice {
  /** An existing connection, which its owner closes; of the other options only `namespace` applies. */
  connection?: NativeConnection | undefined;
  /** For all payloads. Default in `createWorkers`: according to [encryption] of the configuration. */
  dataConverter?: DataConverter | undefined;
  /** Task queue of the agents. Default: `holdfast`. */
  queue?: string | undefined;
}

export interface ServerConnection {
  connection: NativeConnection;
  client: HoldfastClient;
  namespace: string;
  dataConverter: DataConverter | undefined;
  close(): Promise<void>;
}

/** Without a connection: flags, TEMPORAL_ADDRESS or a Temporal profile, else localhost:7233. Throws `no_server`. */
export async function connectServer({
  connection: given,
  dataConverter,
  queue,
  ...choice
}: ConnectOptions): Promise<ServerConnection> {
  const interceptors = [new SameShare()];
  if (given) {
    const { namespace = 'default', address = 'the given connection' } = choice;
    const temporal = new Client({
      connection: given,
      namespace,
      ...(dataConverter && { dataConverter }),
      ...messageInterceptors(dataConverter, false, interceptors),
    });
    const client = new HoldfastClient(temporal, address, { queue });
    return { connection: given, client, namespace, dataConverter, close: () => Promise.resolve() };
  }
  const server = resolveServer(choice, process.env);
  const { address, namespace } = server;
  const client = new HoldfastClient(await connectTemporal(server, { dataConverter, interceptors }), address, {
    queue,
  });
  const { tls, apiKey, metadata } = server.connection ?? {};
  const connection = await NativeConnection.connect({
    address,
    ...(tls && { tls }),
    ...(typeof apiKey === 'string' && { apiKey }),
    ...(metadata && { metadata }),
  }).catch(async (err: unknown) => {
    await client.close();
    throw new HoldfastError('no_server', { address, reason: reasonOf(err) });
  });
  const close = async (): Promise<void> => {
    await client.close();
    await connection.close().catch(() => void closeOnceFree(connection));
  };
  return { connection, client, namespace, dataConverter, close };
}

/**
 * The SDK refuses to close what a worker still holds. One whose server does not answer holds it for up to half a minute
 * after its stop.
 */
async function closeOnceFree(connection: NativeConnection): Promise<void> {
  for (;;) {
    await delay(RETRY_MS, undefined, { ref: false });
    try {
      return await connection.close();
    } catch (err) {
      if (!(err instanceof IllegalStateError)) return;
    }
  }
}
