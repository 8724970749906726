// Asks a server whether it serves: facts, not guesses from its log or from time passed.
import { get } from 'node:http';
import { connect } from 'node:net';
import { LOOPBACK } from './ports';
import type { EngineRecord } from './record';

const ANSWER_TIMEOUT_MS = 2_000;

/** True when the gRPC port accepts connections and the namespace exists. */
export async function answers(
  record: Pick<EngineRecord, 'port' | 'httpUrl' | 'namespace'>,
): Promise<boolean> {
  return (
    (await acceptsConnections(record.port)) &&
    (await statusOf(`${record.httpUrl}/api/v1/namespaces/${record.namespace}`)) === 200
  );
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: LOOPBACK, timeout: ANSWER_TIMEOUT_MS });
    const settle = (accepted: boolean): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    // agent: false, or the kept-alive connection would delay the end of a short command.
    const request = get(url, { agent: false, timeout: ANSWER_TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(undefined));
    request.once('close', () => resolve(undefined));
  });
}
