// The whole log of a terminal as text, however long it is: what is far from view is not in the page.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { bytes, ProblemNote } from '../parts/notes';
import { LogView } from './log-view';
import { runsOf, type LogPart, type LogWindow } from './log-windows';
import type { SessionPath } from './terminal-socket';

/** How near to an edge the next window is loaded. */
const NEAR_PX = 600;

export function History({ agent, host, session }: SessionPath): VNode {
  const view = useMemo(() => new LogView({ agent, host, session }), [agent, host, session]);
  useEffect(() => {
    void view.goTo('end');
    return () => view.close();
  }, [view]);
  return (
    <div class="history">
      <Controls view={view} />
      <ProblemNote problem={view.problem.value} />
      <Windows view={view} label={`History of terminal ${session} of ${agent} on ${host}`} />
    </div>
  );
}

const Controls = ({ view }: { view: LogView }): VNode => (
  <div class="history-controls">
    <button type="button" onClick={() => void view.goTo(0)}>
      Start
    </button>
    <button type="button" onClick={() => void view.goTo('end')}>
      End
    </button>
    <JumpToOffset view={view} />
    <SearchOfLog view={view} />
    <span class="quiet" role="status">
      {placeText(view)}
    </span>
  </div>
);

function JumpToOffset({ view }: { view: LogView }): VNode {
  const offset = useSignal('');
  const jump = (event: Event): void => {
    event.preventDefault();
    if (offset.value !== '') void view.goTo(Math.max(0, Math.floor(Number(offset.value)) || 0));
  };
  return (
    <form onSubmit={jump}>
      <input
        class="offset"
        inputMode="numeric"
        aria-label="Offset in bytes"
        placeholder="Offset"
        value={offset}
        onInput={(event) => (offset.value = event.currentTarget.value)}
      />
      <button type="submit">Go</button>
    </form>
  );
}

function SearchOfLog({ view }: { view: LogView }): VNode {
  const text = useSignal('');
  const find = (back: boolean): void => {
    if (text.value !== '') void view.find(text.value, back);
  };
  return (
    <>
      <input
        class="find"
        type="search"
        aria-label="Search the whole log; Enter goes up, Shift and Enter down"
        placeholder="Search all"
        value={text}
        onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && find(!event.shiftKey)}
      />
      <button type="button" onClick={() => find(true)}>
        Find older
      </button>
      <button type="button" onClick={() => find(false)}>
        Find newer
      </button>
      {view.searchedTo.value !== null && (
        <button type="button" onClick={() => view.cancelSearch()}>
          Stop searching
        </button>
      )}
    </>
  );
}

/** Where the search is, what it has not found, or what is shown. */
function placeText(view: LogView): string {
  const windows = view.windows.value;
  const searchedTo = view.searchedTo.value;
  if (searchedTo !== null) return `Searching at ${bytes(searchedTo)} of ${bytes(view.end.value)}`;
  if (view.missed.value !== null) return `No ${JSON.stringify(view.missed.value)} from there on`;
  return windows.length > 0
    ? `Bytes ${whole(windows[0]?.from)} to ${whole(windows.at(-1)?.to)} of ${whole(view.end.value)}`
    : 'Loading';
}

const whole = (count = 0): string => count.toLocaleString('en');

function Windows({ view, label }: { view: LogView; label: string }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const windows = view.windows.value;
  // While this runs, the box still has what was drawn before.
  const anchor = box.current && anchorIn(box.current);
  const fill = (): void => {
    const { current } = box;
    if (!current) return;
    if (current.scrollTop < NEAR_PX) void view.more(true);
    if (current.scrollHeight - current.scrollTop - current.clientHeight < NEAR_PX) void view.more(false);
  };
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return;
    aim(view, current, anchor);
    // The window on the other side may be missing, too.
    const frame = requestAnimationFrame(fill);
    return () => cancelAnimationFrame(frame);
  }, [windows]);
  const atEnd = (event: WheelEvent): void => {
    if (event.deltaY > 0 && !view.hasNewer()) void view.catchUp();
  };
  return (
    <div
      class="history-box"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={fill}
      onWheel={atEnd}
    >
      {windows.map((one) => (
        <Text key={one.index} window={one} mark={view.mark.value} />
      ))}
    </div>
  );
}

/** The first window in view stays where it is when others come and go above it. */
function anchorIn(box: HTMLElement): { element: Element; top: number } | null {
  const { top } = box.getBoundingClientRect();
  const element = [...box.children].find((one) => one.getBoundingClientRect().bottom > top);
  return element ? { element, top: element.getBoundingClientRect().top } : null;
}

function aim(view: LogView, box: HTMLElement, anchor: { element: Element; top: number } | null): void {
  const { aim: wanted } = view;
  view.aim = null;
  if (wanted === 'start') box.scrollTop = 0;
  else if (wanted === 'end') box.scrollTop = box.scrollHeight;
  else if (wanted === 'mark') {
    const place = box.querySelector('mark')?.getBoundingClientRect();
    if (place) box.scrollTop += place.top - box.getBoundingClientRect().top - box.clientHeight / 3;
  } else if (anchor?.element.isConnected)
    box.scrollTop += anchor.element.getBoundingClientRect().top - anchor.top;
}

function Text({ window, mark }: { window: LogWindow; mark: LogPart | null }): VNode {
  const here = mark && mark.from >= window.from && mark.from < window.to ? mark : null;
  const runs = useMemo(() => runsOf(window.chunks, window, here), [window, here?.from, here?.to]);
  return (
    <pre class="history-window" data-from={window.from}>
      {runs.map(({ kind, text }, index) =>
        kind === 'match' ? (
          <mark key={index}>{text}</mark>
        ) : kind === 'missing' ? (
          <span key={index} class="missing">{`${text}\n`}</span>
        ) : (
          text
        ),
      )}
    </pre>
  );
}
