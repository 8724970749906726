// A terminal with its bar: whose keyboard it is, search, download. The terminal's code is loaded when one is shown.
import { useSignal, type Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { problemOf } from '../api/call-api';
import { mayAct } from '../api/signed-in';
import { ExactLine } from '../text/exact-text';
import { History } from './history';
import { logPath } from './read-log';
import type { Screen } from './screen';
import { TerminalSocket, type SessionPath } from './terminal-socket';

interface TileProps extends SessionPath {
  onClose: () => void;
}

interface Shown {
  isTypist: boolean;
  typist: string | null;
  note: string | null;
  /** What became of keys; until it is read. */
  dropped: string | null;
  /** Why it has ended, or was refused. */
  over: { code: string | null; text: string } | null;
}

export function TerminalTile({ agent, host, session, onClose }: TileProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const shown = useSignal<Shown>({ isTypist: false, typist: null, note: null, dropped: null, over: null });
  const link = useSignal<string | null>(null);
  const hasHistory = useSignal(false);
  const parts = useTerminal({ agent, host, session }, place, { shown, link });
  return (
    <section class="tile" aria-label={`Terminal ${session} of ${agent} on ${host}`}>
      <header>
        <strong>{agent}</strong>
        <span class="quiet">
          {host} {session}
        </span>
        <TypistState shown={shown.value} />
        <span class="space" />
        <Search screen={() => parts.value?.screen} />
        <TypeButton {...{ shown, parts }} />
        <button
          type="button"
          aria-pressed={hasHistory.value}
          onClick={() => (hasHistory.value = !hasHistory.value)}
        >
          History
        </button>
        <a class="button" href={`${logPath({ agent, host, session })}/download`} download>
          Download
        </a>
        <button type="button" aria-label="Close this tile" onClick={onClose}>
          ✕
        </button>
      </header>
      <div class="screen-place" ref={place} hidden={hasHistory.value} />
      {hasHistory.value && <History {...{ agent, host, session }} />}
      <TileNotes {...{ shown, link }} />
    </section>
  );
}

/** Whether somebody else has the keyboard. */
const isBusy = ({ isTypist, typist }: Shown): boolean => typist !== null && !isTypist;

const TypistState = ({ shown }: { shown: Shown }): VNode => (
  <span class={shown.isTypist ? 'typist own' : 'typist'} role="status">
    {shown.isTypist ? 'you type' : isBusy(shown) ? `${shown.typist} types` : 'watching'}
  </span>
);

/** Asks for the keyboard, takes it over, or gives it back. Not there for who may not act, or once the terminal has ended. */
function TypeButton({ shown, parts }: { shown: Signal<Shown>; parts: Signal<Parts | null> }): VNode | null {
  const { isTypist, over } = shown.value;
  if (!mayAct() || over?.code === null) return null;
  const takes = isBusy(shown.value) || over?.code === 'typist_busy';
  const type = (): void => {
    shown.value = { ...shown.value, over: null, note: null, dropped: null };
    parts.value?.socket.setTypes(!isTypist, takes);
    parts.value?.screen.terminal.focus();
  };
  return (
    <button type="button" aria-pressed={isTypist} onClick={type} disabled={!parts.value}>
      {isTypist ? 'Stop typing' : takes ? 'Take over' : 'Type'}
    </button>
  );
}

/** Below the screen: a link of the program, keys that were not typed, and what became of the connection. */
function TileNotes({ shown, link }: Notes): VNode {
  const { note, dropped, over } = shown.value;
  return (
    <>
      {link.value && (
        <p class="tile-note">
          The program’s link leads to{' '}
          <a dir="ltr" href={link.value} target="_blank" rel="noopener noreferrer">
            <ExactLine text={link.value} />
          </a>{' '}
          <button class="plain" type="button" onClick={() => (link.value = null)}>
            Dismiss
          </button>
        </p>
      )}
      {dropped && (
        <p class="tile-note" role="alert">
          {dropped}{' '}
          <button
            class="plain"
            type="button"
            onClick={() => (shown.value = { ...shown.value, dropped: null })}
          >
            Dismiss
          </button>
        </p>
      )}
      {(over?.text ?? note) && (
        <p class="tile-note" role="status">
          {over?.text ?? note}
        </p>
      )}
    </>
  );
}

function Search({ screen }: { screen: () => Screen | undefined }): VNode {
  const text = useSignal('');
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && text.value !== '') screen()?.find(text.value, !event.shiftKey);
  };
  return (
    <input
      class="find"
      type="search"
      aria-label="Search this terminal; Enter goes up, Shift and Enter down"
      placeholder="Search"
      value={text}
      onInput={(event) => (text.value = event.currentTarget.value)}
      onKeyDown={press}
    />
  );
}

/** There once the terminal's code is loaded. */
interface Parts {
  screen: Screen;
  socket: TerminalSocket;
}

interface Notes {
  shown: Signal<Shown>;
  link: Signal<string | null>;
}

function useTerminal(
  path: SessionPath,
  place: { current: HTMLDivElement | null },
  { shown, link }: Notes,
): Signal<Parts | null> {
  const parts = useSignal<Parts | null>(null);
  useEffect(() => {
    let isGone = false;
    let watch: ResizeObserver | undefined;
    void import('./screen').then(
      ({ openScreen }) => {
        if (isGone || !place.current) return;
        const screen = openScreen(place.current, (target) => (link.value = target));
        screen.fit();
        const socket = connect(path, screen, shown);
        parts.value = { screen, socket };
        screen.terminal.onData((text) => shown.peek().isTypist && socket.type(text));
        watch = new ResizeObserver(() => {
          if (!isInView(place.current)) return;
          // The size is the typist's; others see it as it is.
          if (!shown.peek().isTypist) return screen.fitWatched();
          const { cols, rows } = screen.fit();
          socket.resize(cols, rows);
        });
        watch.observe(place.current);
      },
      (err: unknown) => {
        const { detail, next } = problemOf(err);
        shown.value = { ...shown.peek(), over: { code: 'page', text: `${detail} ${next}` } };
      },
    );
    return () => {
      isGone = true;
      watch?.disconnect();
      parts.peek()?.socket.close();
      parts.peek()?.screen.dispose();
      parts.value = null;
    };
  }, [path.agent, path.host, path.session]);
  return parts;
}

/** The history may be shown in its place. */
const isInView = (place: HTMLElement | null): boolean => (place?.offsetHeight ?? 0) > 0;

function connect(path: SessionPath, screen: Screen, shown: Signal<Shown>): TerminalSocket {
  const { terminal } = screen;
  const show = (change: Partial<Shown>): void => void (shown.value = { ...shown.peek(), ...change });
  return new TerminalSocket(path, {
    snapshot: ({ cols, rows, data }) => {
      terminal.reset();
      terminal.resize(cols, rows);
      screen.fitWatched();
      screen.begin(data);
    },
    output: (data, drawn) => screen.write(data, drawn),
    state: ({ isTypist, typist, cols, rows }) => {
      terminal.options.disableStdin = !isTypist;
      if (isTypist) screen.fit();
      else {
        terminal.resize(cols, rows);
        screen.fitWatched();
      }
      show({ isTypist, typist, note: null });
    },
    note: (note) => show({ note }),
    dropped: (dropped) => show({ dropped }),
    over: (code, text) => {
      terminal.options.disableStdin = true;
      show({ over: { code, text }, isTypist: false, typist: null });
    },
    // Nothing of the screen may be lost: for a person who watches it goes on in the size that it has.
    size: () => screen.ownSize(),
  });
}
