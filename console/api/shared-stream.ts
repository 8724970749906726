// A stream of events that the tabs of a browser share, because it has only six connections to a gateway for all of them. The
// tab that has the lock follows it, and tells the others; when that tab goes, another one gets the lock.
import { callApi } from './call-api';
import { followEvents, setTrouble, SILENT_MS, type Handlers } from './event-streams';

type Said =
  { kind: 'join' } | { kind: 'event'; event: string; data: unknown } | { kind: 'trouble'; has: boolean };

/** @param whose only tabs that are logged in as the same share it. Returns the function that ends it. */
export function followShared(path: string, whose: string, handlers: Handlers): () => void {
  const over = new AbortController();
  const who = {};
  const channel = new BroadcastChannel(`holdfast ${path} ${whose}`);
  /** The last of each kind: all that a tab that joins needs. */
  const latest = new Map<string, unknown>();
  let stop: (() => void) | undefined;
  let hasTrouble = false;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const say = (said: Said): void => (over.signal.aborted ? undefined : channel.postMessage(said));
  const take = (event: string, data: unknown): void => {
    latest.set(event, data);
    handlers[event]?.(data as never);
  };
  const hear = (): void => {
    clearTimeout(silence);
    // The tab that follows hands on `alive`. One that does not is suspended: its lock is taken.
    silence = setTimeout(() => void lead({ steal: true }), SILENT_MS);
  };
  const trouble = (has: boolean): void => {
    if (!stop) return;
    hasTrouble = has;
    setTrouble(who, has);
    say({ kind: 'trouble', has });
  };
  const follow = (): (() => void) => {
    const told = Object.keys(handlers).map((event): [string, (data: never) => void] => [
      event,
      (data) => {
        take(event, data);
        say({ kind: 'event', event, data });
      },
    ]);
    const alive = (data: unknown): void => say({ kind: 'event', event: 'alive', data });
    return followEvents(path, { handlers: { ...Object.fromEntries(told), alive }, onTrouble: trouble });
  };
  const lead = async (how: { steal: true } | { signal: AbortSignal }): Promise<void> => {
    try {
      await navigator.locks.request(channel.name, how, async () => {
        if (over.signal.aborted) return;
        clearTimeout(silence);
        stop = follow();
        await new Promise<void>((resolve) => over.signal.addEventListener('abort', () => resolve()));
      });
    } catch {
      // Taken by another tab, which thought that this one is no longer there.
      const end = stop;
      stop = undefined;
      end?.();
      // What it said of its own stream: the tab that follows now says how its own is.
      setTrouble(who, false);
      if (!over.signal.aborted) join();
    }
  };
  const join = (): void => {
    hear();
    say({ kind: 'join' });
    void lead({ signal: over.signal });
  };
  channel.onmessage = ({ data: said }: MessageEvent<Said>) => {
    if (stop && said.kind === 'join') {
      for (const [event, data] of latest) say({ kind: 'event', event, data });
      say({ kind: 'trouble', has: hasTrouble });
    }
    if (stop || said.kind === 'join') return;
    hear();
    if (said.kind === 'event') return take(said.event, said.data);
    setTrouble(who, said.has);
    // An answer 401 makes this page ask for a log-in, too.
    if (said.has) void callApi('GET', '/v1/me').catch(() => undefined);
  };
  join();
  return () => {
    over.abort();
    clearTimeout(silence);
    stop?.();
    setTrouble(who, false);
    channel.close();
  };
}
