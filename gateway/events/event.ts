// Server-sent events (HTML standard, 9.2). One with an id is of something recorded: a client that comes back with the id
// gets everything after it. One without is of the moment.

export interface Event {
  event: string;
  id?: string;
  data: unknown;
}

const KEEP_ALIVE_MS = 15_000;
const ALIVE: Event = { event: 'alive', data: null };
/** How long a browser waits before it comes back. */
const RETRY_MS = 1_000;

/** Streams events as they come; the generator is ended when the client has gone away or `over` aborts. */
export function eventStream(events: AsyncGenerator<Event, void>, over: AbortSignal): Response {
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  const finish = (): void => {
    clearInterval(timer);
    over.removeEventListener('abort', finish);
    void events.return();
  };
  // Also for a client that reads nothing more, so that nothing is watched for it.
  over.addEventListener('abort', finish);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
      // Proxies end what is silent, and a client that is gone shows only when something is sent. A comment would keep the
      // connection, too, but no script in a browser sees one.
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(textOf(ALIVE)));
      }, KEEP_ALIVE_MS);
    },
    // Called when the client has read what there is: a slow one makes the generator wait.
    async pull(controller) {
      const result: IteratorResult<Event, void> = await events.next();
      // What was read meanwhile is not for a client that is refused.
      if (result.done || over.aborted) {
        finish();
        controller.close();
      } else controller.enqueue(encoder.encode(textOf(result.value)));
    },
    cancel: finish,
  });
  return new Response(stream, {
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    },
  });
}

/** JSON has no line ends. */
const textOf = ({ event, id, data }: Event): string =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
