// Asks a server whether it serves: facts, not guesses from its log or the time passed.
import { get, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { LOOPBACK, type HiddenPorts } from './ports';
import type { EngineRecord } from './record';

const ANSWER_TIMEOUT_MS = 2_000;

/** True when the gRPC port accepts connections and the namespace exists. */
export async function answers(record: EngineRecord): Promise<boolean> {
  return (await acceptsConnections(record.port)) && (await statusOf(record.ui, record)) === 200;
}

/** True when what people open answers: the recorded guard, and the web UI behind it. */
export async function guardAnswers(record: EngineRecord, token: string): Promise<boolean> {
  const guard = { address: LOOPBACK, port: record.uiPort };
  return (await statusOf(guard, record, { authorization: `Bearer ${token}` })) === 200;
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

/** The status of a request for the namespace, which the web UI gets from the server. */
function statusOf(
  { address, port }: HiddenPorts['ui'],
  { namespace }: EngineRecord,
  headers: OutgoingHttpHeaders = {},
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const url = `http://${address}:${port}/api/v1/namespaces/${namespace}`;
    // agent: false, or the kept-alive connection would delay the end of a short command.
    const request = get(url, { agent: false, headers, timeout: ANSWER_TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(undefined));
    request.once('close', () => resolve(undefined));
  });
}
