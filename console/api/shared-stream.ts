// A stream of events that the tabs of a browser share, because it has only six connections to a gateway for all of them. The
// tab that has the lock follows it, and forwards its events to the others; when that tab goes, another one gets the lock.
import { callApi } from './call-api';
import { followEvents, setTrouble, SILENT_MS, type Handlers } from './event-streams';

type Said =
  { kind: 'join' } | { kind: 'event'; event: string; data: unknown } | { kind: 'trouble'; has: boolean };

/** @param whose only tabs that are logged in as the same share it. Returns the function that ends it. */
export function followShared(path: string, whose: string, handlers: Handlers): () => void {
  const stream = new SharedStream(path, whose, handlers);
  return () => stream.end();
}

class SharedStream {
  private readonly over = new AbortController();
  private readonly who = {};
  private readonly channel: BroadcastChannel;
  /** The last of each kind: all that a tab that joins needs. */
  private readonly latest = new Map<string, unknown>();
  /** Ends the stream of the tab that follows; undefined in the others. */
  private stop: (() => void) | undefined;
  private hasTrouble = false;
  private silence: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly path: string,
    whose: string,
    private readonly handlers: Handlers,
  ) {
    this.channel = new BroadcastChannel(`holdfast ${path} ${whose}`);
    this.channel.onmessage = ({ data: said }: MessageEvent<Said>) => this.onSaid(said);
    this.join();
  }

  end(): void {
    this.over.abort();
    clearTimeout(this.silence);
    this.stop?.();
    setTrouble(this.who, false);
    this.channel.close();
  }

  private join(): void {
    this.hear();
    this.say({ kind: 'join' });
    void this.lead({ signal: this.over.signal });
  }

  private async lead(how: { steal: true } | { signal: AbortSignal }): Promise<void> {
    const { signal } = this.over;
    try {
      await navigator.locks.request(this.channel.name, how, async () => {
        if (signal.aborted) return;
        clearTimeout(this.silence);
        this.stop = this.follow();
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      });
    } catch {
      // Taken by another tab, which thought that this one is no longer there.
      const end = this.stop;
      this.stop = undefined;
      end?.();
      // What it said of its own stream: the tab that follows now says how its own is.
      setTrouble(this.who, false);
      if (!signal.aborted) this.join();
    }
  }

  private follow(): () => void {
    const forwarding = Object.keys(this.handlers).map((event): [string, (data: never) => void] => [
      event,
      (data) => {
        this.take(event, data);
        this.say({ kind: 'event', event, data });
      },
    ]);
    const alive = (data: unknown): void => this.say({ kind: 'event', event: 'alive', data });
    return followEvents(this.path, {
      handlers: { ...Object.fromEntries(forwarding), alive },
      onTrouble: (has) => this.onTrouble(has),
    });
  }

  private onTrouble(has: boolean): void {
    if (!this.stop) return;
    this.hasTrouble = has;
    setTrouble(this.who, has);
    this.say({ kind: 'trouble', has });
  }

  private onSaid(said: Said): void {
    if (this.stop && said.kind === 'join') {
      for (const [event, data] of this.latest) this.say({ kind: 'event', event, data });
      this.say({ kind: 'trouble', has: this.hasTrouble });
    }
    if (this.stop || said.kind === 'join') return;
    this.hear();
    if (said.kind === 'event') return this.take(said.event, said.data);
    setTrouble(this.who, said.has);
    // An answer 401 makes this page ask for a log-in, too.
    if (said.has) void callApi('GET', '/v1/me').catch(() => undefined);
  }

  private take(event: string, data: unknown): void {
    this.latest.set(event, data);
    this.handlers[event]?.(data as never);
  }

  private hear(): void {
    clearTimeout(this.silence);
    // The tab that follows hands on `alive`. One that does not is suspended: its lock is taken.
    this.silence = setTimeout(() => void this.lead({ steal: true }), SILENT_MS);
  }

  private say(said: Said): void {
    if (!this.over.signal.aborted) this.channel.postMessage(said);
  }
}
