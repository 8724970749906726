// Streams of events that come back by themselves: a browser's EventSource repeats only after a broken connection, not
// after a refusal such as a proxy's 502.
import { computed, signal } from '@preact/signals';
import { callApi } from './call-api';

const inTrouble = signal<ReadonlySet<object>>(new Set());
/** False while a stream is broken: what is shown may be old. */
export const isOnline = computed(() => inTrouble.value.size === 0);

export function setTrouble(who: object, hasTrouble: boolean): void {
  if (inTrouble.value.has(who) === hasTrouble) return;
  const next = new Set(inTrouble.value);
  if (hasTrouble) next.add(who);
  else next.delete(who);
  inTrouble.value = next;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** 0.5 s, 1 s, 2 s, ... 10 s. */
export const waitBefore = (attempt: number): number =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 10));

type Handlers = Record<string, (data: never) => void>;

interface StreamOptions {
  /** Each by the name of its event. */
  handlers: Handlers;
  /** The event after which there are no others. */
  last?: string;
  /** Asks why the answer was no stream; may end it. An answer 401 to this makes the page ask for a log-in. */
  check?: () => Promise<unknown>;
}

/** Returns the function that ends it. */
export function followEvents(
  path: string,
  { handlers, last, check = () => callApi('GET', '/v1/me') }: StreamOptions,
): () => void {
  const who = {};
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;
  let lastId = '';
  let isOver = false;
  const end = (): void => {
    isOver = true;
    clearTimeout(timer);
    source?.close();
    setTrouble(who, false);
  };
  const open = (): void => {
    source = new EventSource(lastId === '' ? path : `${path}?after=${encodeURIComponent(lastId)}`);
    source.onopen = () => {
      attempt = 0;
      setTrouble(who, false);
    };
    source.onerror = () => {
      if (isOver) return;
      if (source?.readyState !== EventSource.CLOSED) return setTrouble(who, true);
      const tell = (): void => void (isOver || setTrouble(who, true));
      check().then(tell, tell);
      timer = setTimeout(open, waitBefore(attempt++));
    };
    for (const [name, handle] of Object.entries(handlers))
      source.addEventListener(name, (event: MessageEvent<string>) => {
        if (event.lastEventId) lastId = event.lastEventId;
        handle(JSON.parse(event.data) as never);
        if (name === last) end();
      });
  };
  open();
  return end;
}
