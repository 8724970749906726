// The SDK repeats a failed request after a pause, also on a connection that has been closed meanwhile: there grpc-js
// throws, in a timer, where it cannot be caught. This ends such a repetition as cancelled.
import {
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type Connection,
  type ConnectionOptions,
} from '@temporalio/client';
import { IllegalStateError } from '@temporalio/common';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;
type Listener = Parameters<Call['start']>[1];
type Status = Parameters<NonNullable<NonNullable<Listener>['onReceiveStatus']>>[0];

/** gRPC's status codes; the first is not repeated. */
const CANCELLED = 1;
const UNAVAILABLE = 14;
/** As grpc-js says it. */
const CLOSED = 'Channel has been shut down';
/** As a call says it that was never made. */
const ENDED_HERE = 'the connection has been closed';

const endClosed: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch (err) {
    if (!(err instanceof Error) || err.message !== CLOSED) throw err;
    return cancelledCall();
  }
};

/** Whether a request failed because its connection had been closed, of a client or of workers. */
export function isClosed(err: unknown): boolean {
  const { code, details, cause } = (err ?? {}) as { code?: unknown; details?: unknown; cause?: unknown };
  if (code === CANCELLED && details === ENDED_HERE) return true;
  if (err instanceof IllegalStateError && /closed/i.test(err.message)) return true;
  return cause instanceof Error && isClosed(cause);
}

/** A call that was never made. */
function cancelledCall(): Call {
  const ignore = (): void => undefined;
  const call: Pick<
    Call,
    'start' | 'sendMessage' | 'halfClose' | 'startRead' | 'cancelWithStatus' | 'getPeer'
  > = {
    start(metadata, listener) {
      const status: Status = { code: CANCELLED, details: ENDED_HERE, metadata };
      process.nextTick(() => {
        (listener?.onReceiveMessage as ((message: null) => void) | undefined)?.(null);
        listener?.onReceiveStatus?.(status);
      });
    },
    sendMessage: ignore,
    halfClose: ignore,
    startRead: ignore,
    cancelWithStatus: ignore,
    getPeer: () => 'closed',
  };
  return Object.assign(call, {
    sendMessageWithContext: ignore,
    getAuthContext: () => null,
  }) as unknown as Call;
}

/** The SDK's pauses grow from the first by this factor to the longest. */
const [FIRST_PAUSE_MS, FACTOR, LONGEST_PAUSE_MS] = [100, 1.7, 5_000];
const SDK_ATTEMPTS = 10;

/** How often the SDK sends a request within so many milliseconds; at most as often as it does by default. */
export function attemptsWithin(ms: number): number {
  let attempts = 1;
  for (let waited = 0; attempts < SDK_ATTEMPTS; attempts++) {
    waited += Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * FACTOR ** attempts);
    if (waited > ms) break;
  }
  return attempts;
}

/** When a request last found no server, in ms since 1970; undefined: never. */
export interface Contact {
  lostAt?: number;
}

const contacts = new WeakMap<object, Contact>();

/** Of a connection that `closableRequests` was made for; of others nothing is known. */
export const contactOf = (connection: object): Contact => contacts.get(connection) ?? {};
export const keepContact = (connection: object, contact: Contact): void =>
  void contacts.set(connection, contact);

const noteLost =
  (contact: Contact): Interceptor =>
  (options, nextCall) => {
    const call = nextCall(options) as Call;
    const start = call.start.bind(call);
    call.start = (metadata, listener) =>
      start(metadata, {
        onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
        onReceiveMessage: (received: unknown) => listener?.onReceiveMessage?.(received),
        onReceiveStatus: (status) => {
          if (Number(status.code) === UNAVAILABLE) contact.lostAt = performance.now();
          listener?.onReceiveStatus?.(status);
        },
      });
    return call;
  };

/** A server that is up answers within this time, also one that is busy. */
const ANSWER_MS = 8_000;
/** What a server answers from what it has: no request that waits for something to happen. */
const READS =
  /\/(?:List|Count|Describe)\w+$|\/(?:GetWorkflowExecutionHistoryReverse|GetSearchAttributes|GetSystemInfo)$/;

/** A server that is frozen closes no connection: without a deadline a request to it waits for ever. */
const endLate: Interceptor = (options, nextCall) => {
  const isRead = READS.test(options.method_definition.path);
  const deadline = options.deadline ?? (isRead ? Date.now() + ANSWER_MS : undefined);
  return nextCall(deadline === undefined ? options : { ...options, deadline }) as Call;
};

/**
 * The SDK's own repetition of requests, for connections that are closed while requests are open.
 * @param contact hears when the server is away
 * @param patienceMs how long it goes on while the server is away, and then reads have a deadline; default: about 25 s
 */
export const closableRequests = (contact: Contact = {}, patienceMs = Infinity): Interceptor[] => [
  ...(patienceMs === Infinity ? [] : [endLate]),
  makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: attemptsWithin(patienceMs) })),
  noteLost(contact),
  endClosed,
];

/** The same for one that the SDK has made, which reads its interceptors anew for each request. */
export const makeClosable = ({ options: { interceptors } }: Connection): void =>
  void interceptors?.push(endClosed);
