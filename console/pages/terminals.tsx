// Open terminals, several at once in tiles. Which are shown is in the address.
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { SessionEntry } from '../../contracts/gateway/api';
import type { Listed } from '../api/call-api';
import { useLoaded } from '../api/load';
import { openAgents } from '../api/overview';
import { linkTo, place } from '../api/place';
import { Empty, ProblemNote } from '../parts/notes';
import { TerminalTile } from '../terminal/tile';

const EVERY_MS = 10_000;
const nameOf = ({ agent, host, session }: Pick<SessionEntry, 'agent' | 'host' | 'session'>): string =>
  `${agent}/${host}/${session}`;

/** Of those that wait. */
const MOST_OPENED = 4;

const waitingFirst = (all: readonly SessionEntry[]): SessionEntry[] =>
  [...all].sort((a, b) => Number(b.waits !== null) - Number(a.waits !== null));

/** Names of those that wait, or have waited since the page was opened: one that was answered stays in sight. */
function useWaiting(sessions: readonly SessionEntry[]): readonly string[] {
  const names = useRef<string[]>([]);
  const waiting = sessions.filter(({ waits }) => waits !== null).map(nameOf);
  names.current = [...new Set([...names.current, ...waiting])].slice(0, MOST_OPENED);
  return names.current;
}

export function TerminalsPage(): VNode {
  const { value, problem, reload } = useLoaded<Listed<SessionEntry>>('/v1/sessions', EVERY_MS);
  const published = openAgents.value;
  useEffect(() => (published ? reload() : undefined), [published]);
  const chosen = place.value.query.getAll('open');
  const sessions = value.value?.items;
  const waiting = useWaiting(sessions ?? []);
  // Where nothing was chosen, what waits for a person is shown.
  const open = chosen.length > 0 || place.value.query.has('none') ? chosen : waiting;
  const show = (names: string[]): void => {
    const query = new URLSearchParams(names.map((name) => ['open', name]));
    location.hash = `#/terminals?${names.length > 0 ? query.toString() : 'none'}`;
  };
  const toggle = (name: string): void =>
    show(open.includes(name) ? open.filter((one) => one !== name) : [...open, name]);
  return (
    <>
      <div class="title">
        <h1>Terminals</h1>
        <span class="quiet">{sessions && sessions.length > 0 ? `${sessions.length} open` : ''}</span>
      </div>
      <ProblemNote problem={problem.value} />
      {sessions?.length === 0 && open.length === 0 && (
        <Empty>
          <h2>No terminal is open</h2>
          <p>
            Agents open one when they run code: <a href={linkTo('start')}>start an agent</a>. Or open one
            yourself: <code>holdfast exec "uname -a"</code>.
          </p>
        </Empty>
      )}
      <Chips {...{ sessions: sessions ?? [], open, toggle }} />
      <div class={`tiles tiles-${Math.min(open.length, 4)}`}>
        {open.map((name) => {
          const [agent = '', host = '', session = '0'] = name.split('/');
          return (
            <TerminalTile
              key={name}
              {...{ agent, host, session: Number(session) }}
              onClose={() => toggle(name)}
            />
          );
        })}
      </div>
    </>
  );
}

interface ChipsProps {
  sessions: readonly SessionEntry[];
  /** Names of those that are shown. */
  open: readonly string[];
  toggle: (name: string) => void;
}

const Chips = ({ sessions, open, toggle }: ChipsProps): VNode => (
  <div class="chips" role="group" aria-label="Terminals to show">
    {waitingFirst(sessions).map((entry) => (
      <button
        key={entry.workflowId}
        type="button"
        class={entry.waits ? 'waits' : ''}
        aria-pressed={open.includes(nameOf(entry))}
        onClick={() => toggle(nameOf(entry))}
      >
        {entry.agent}{' '}
        <span class="quiet">
          {entry.host} {entry.session}, {entry.state?.status.replace('_', ' ') ?? 'does not answer'}
        </span>
      </button>
    ))}
  </div>
);
