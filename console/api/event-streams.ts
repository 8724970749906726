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

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export type Handlers = Record<string, (data: never) => void>;

interface StreamOptions {
  /** Each by the name of its event. */
  handlers: Handlers;
  /** Only while the page is in view: it keeps one of the six connections that a browser has for all its tabs. */
  whileSeen?: boolean;
  /** Of each connection but the first: what was sent in between and not recorded is lost. */
  onReopen?: () => void;
  /** Called, in place of the page's own note, when what is shown may be old. */
  onTrouble?: (hasTrouble: boolean) => void;
  /** The event after which there are no others. */
  last?: string;
  /** Asks why the answer was no stream; may end it. An answer 401 to this makes the page ask for a log-in. */
  check?: () => Promise<unknown>;
}

/** Returns the function that ends it. */
export function followEvents(path: string, options: StreamOptions): () => void {
  const stream = new EventStream(path, options);
  return () => stream.end();
}

class EventStream {
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private silence: ReturnType<typeof setTimeout> | undefined;
  private attempt = 0;
  private lastId = '';
  private hasOpened = false;
  private isOver = false;
  private readonly who = {};

  constructor(
    private readonly path: string,
    private readonly options: StreamOptions,
  ) {
    const { whileSeen = false } = options;
    if (whileSeen) document.addEventListener('visibilitychange', this.see);
    if (!whileSeen || !document.hidden) this.open();
  }

  end(): void {
    this.isOver = true;
    document.removeEventListener('visibilitychange', this.see);
    this.close();
    this.trouble(false);
  }

  private readonly see = (): void => {
    if (document.hidden) {
      this.close();
      this.trouble(false);
    } else if (!this.source) this.open();
  };

  private open(): void {
    const { path, lastId } = this;
    const { handlers, onReopen } = this.options;
    this.hear();
    const source = new EventSource(lastId === '' ? path : `${path}?after=${encodeURIComponent(lastId)}`);
    this.source = source;
    source.onopen = () => {
      this.attempt = 0;
      if (this.hasOpened) onReopen?.();
      this.hasOpened = true;
      this.hear();
      this.trouble(false);
    };
    source.addEventListener('alive', () => this.hear());
    source.onerror = () => this.onError();
    for (const [name, handle] of Object.entries(handlers))
      source.addEventListener(name, (event: MessageEvent<string>) => this.take(event, name, handle));
  }

  private take(event: MessageEvent<string>, name: string, handle: (data: never) => void): void {
    this.hear();
    if (event.lastEventId) this.lastId = event.lastEventId;
    handle(JSON.parse(event.data) as never);
    if (name === this.options.last) this.end();
  }

  private onError(): void {
    if (this.isOver) return;
    if (this.source?.readyState !== EventSource.CLOSED) return this.trouble(true);
    // By then the next connection may be there.
    const noteTrouble = (): void => {
      if (!this.isOver && this.source && this.source.readyState !== EventSource.OPEN) this.trouble(true);
    };
    const { check = () => callApi('GET', '/v1/me') } = this.options;
    const refused = this.source;
    const answered = Promise.race([check().then(noteTrouble, noteTrouble), pause(LONGEST_WAIT_MS)]);
    const again = async (): Promise<void> => {
      // It may end the stream.
      await answered;
      if (this.source === refused && !this.isOver) this.open();
    };
    clearTimeout(this.silence);
    this.timer = setTimeout(() => void again(), waitBefore(this.attempt++));
  }

  /** The connection has shown a sign of life. */
  private hear(): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      this.close();
      this.trouble(true);
      this.open();
    }, SILENT_MS);
  }

  private trouble(hasTrouble: boolean): void {
    const { onTrouble } = this.options;
    if (onTrouble) onTrouble(hasTrouble);
    else setTrouble(this.who, hasTrouble);
  }

  private close(): void {
    clearTimeout(this.timer);
    clearTimeout(this.silence);
    this.source?.close();
    this.source = undefined;
  }
}
