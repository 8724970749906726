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

/** The gateway says `alive` every 20 s or sooner: a connection that is cut without a word stays open for the browser. */
export const SILENT_MS = 40_000;

/** 0.5 s, 1 s, 2 s, ... 10 s. */
export const waitBefore = (attempt: number): number =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 10));

export type Handlers = Record<string, (data: never) => void>;

interface StreamOptions {
  /** Each by the name of its event. */
  handlers: Handlers;
  /** Only while the page is in view: it keeps one of the six connections that a browser has for all its tabs. */
  whileSeen?: boolean;
  /** Of each connection but the first: what was told in between and not recorded is lost. */
  onReopen?: () => void;
  /** Told in place of the page when what is shown may be old. */
  onTrouble?: (hasTrouble: boolean) => void;
  /** The event after which there are no others. */
  last?: string;
  /** Asks why the answer was no stream; may end it. An answer 401 to this makes the page ask for a log-in. */
  check?: () => Promise<unknown>;
}

/** Returns the function that ends it. */
export function followEvents(
  path: string,
  {
    handlers,
    whileSeen = false,
    onReopen,
    onTrouble,
    last,
    check = () => callApi('GET', '/v1/me'),
  }: StreamOptions,
): () => void {
  const who = {};
  const trouble = onTrouble ?? ((hasTrouble: boolean): void => setTrouble(who, hasTrouble));
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;
  let lastId = '';
  let hasOpened = false;
  let isOver = false;
  const close = (): void => {
    clearTimeout(timer);
    clearTimeout(silence);
    source?.close();
    source = undefined;
  };
  const see = (): void => {
    if (document.hidden) {
      close();
      trouble(false);
    } else if (!source) open();
  };
  const end = (): void => {
    isOver = true;
    document.removeEventListener('visibilitychange', see);
    close();
    trouble(false);
  };
  const hear = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      close();
      trouble(true);
      open();
    }, SILENT_MS);
  };
  const open = (): void => {
    hear();
    source = new EventSource(lastId === '' ? path : `${path}?after=${encodeURIComponent(lastId)}`);
    source.onopen = () => {
      attempt = 0;
      if (hasOpened) onReopen?.();
      hasOpened = true;
      hear();
      trouble(false);
    };
    source.addEventListener('alive', hear);
    source.onerror = () => {
      if (isOver) return;
      if (source?.readyState !== EventSource.CLOSED) return trouble(true);
      // By then the next connection may be there.
      const tell = (): void =>
        void (isOver || !source || source.readyState === EventSource.OPEN || trouble(true));
      check().then(tell, tell);
      clearTimeout(silence);
      timer = setTimeout(open, waitBefore(attempt++));
    };
    for (const [name, handle] of Object.entries(handlers))
      source.addEventListener(name, (event: MessageEvent<string>) => {
        hear();
        if (event.lastEventId) lastId = event.lastEventId;
        handle(JSON.parse(event.data) as never);
        if (name === last) end();
      });
  };
  if (whileSeen) document.addEventListener('visibilitychange', see);
  if (!whileSeen || !document.hidden) open();
  return end;
}
