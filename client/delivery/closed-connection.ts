// The SDK repeats a failed request after a pause, also on a connection that has been closed meanwhile: there grpc-js
// throws, in a timer, where nobody can catch it. This ends such a repetition as cancelled.
import {
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
} from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;
type Listener = Parameters<Call['start']>[1];
type Status = Parameters<NonNullable<NonNullable<Listener>['onReceiveStatus']>>[0];

/** gRPC's status codes; this one is not repeated. */
const CANCELLED = 1;
/** As grpc-js says it. */
const CLOSED = 'Channel has been shut down';

const endClosed: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch (err) {
    if (!(err instanceof Error) || err.message !== CLOSED) throw err;
    return cancelledCall();
  }
};

/** A call that was never made. */
function cancelledCall(): Call {
  const ignore = (): void => undefined;
  const call: Pick<
    Call,
    'start' | 'sendMessage' | 'halfClose' | 'startRead' | 'cancelWithStatus' | 'getPeer'
  > = {
    start(metadata, listener) {
      const status: Status = { code: CANCELLED, details: 'the connection has been closed', metadata };
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

/** The SDK's own repetition of requests, for connections that are closed while requests are open. */
export const closableRequests = (): Interceptor[] => [
  makeGrpcRetryInterceptor(defaultGrpcRetryOptions()),
  endClosed,
];
