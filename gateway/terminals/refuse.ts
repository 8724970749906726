// Ends a terminal's connection with a reason that its client can read: a browser shows of a refusal only a number.
import type { WebSocket } from 'ws';
import type { FromServer } from '../../contracts/gateway/terminal';
import { problemOf } from '../http/problem';

/** RFC 6455, 7.4.1: what it asks for is against a policy. */
const POLICY = 1008;
const LEAVE_MS = 2_000;

export function refuse(client: WebSocket, err: unknown): void {
  const { code, detail, next, retryable } = problemOf(err);
  const said: FromServer = { kind: 'refused', problem: { code, detail, next, retryable } };
  client.send(JSON.stringify(said), () => client.close(POLICY, code));
  endSoon(client);
}

/** Also the connection of a client that does not read, or does not answer the close. */
export function endSoon(client: WebSocket): void {
  setTimeout(() => client.terminate(), LEAVE_MS).unref();
}
