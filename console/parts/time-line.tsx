// What happened to an agent and when: a list, each entry with a bar on one axis, and a link to its place.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { TimeLine, TimeLineEntry } from '../../contracts/gateway/time-line';
import { pathOf } from '../api/call-api';
import { useLoaded } from '../api/load';
import { linkTo } from '../api/place';
import { ExactText } from '../text/exact-text';
import { ProblemNote } from './notes';

const KINDS: Record<TimeLineEntry['kind'], string> = {
  turn: 'turn',
  model: 'model',
  tool: 'tool',
  command: 'command',
  wait: 'wait',
  kill: 'killed',
  taken_over: 'taken over',
  silent: 'silent',
};
/** Changes come in bursts; each reading costs the server the histories. */
const SETTLE_MS = 1_000;
const SHOWN = 300;

/** Read again when `version` changes. */
export function TimeLineView({ id, version }: { id: string; version: string }): VNode {
  const { value, problem, reload } = useLoaded<TimeLine>(`${pathOf('agents', id)}/timeline`);
  useEffect(() => {
    const timer = setTimeout(reload, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [version]);
  const chosen = useSignal('');
  const line = value.value;
  const turns = [...new Set(line?.items.map(({ turn }) => turn).filter((turn) => turn !== null))];
  const last = turns.at(-1);
  const turn = chosen.value === '' ? last : chosen.value === 'all' ? undefined : Number(chosen.value);
  const items = (line?.items ?? []).filter((one) => turn === undefined || one.turn === turn);
  return (
    <section class="time-line">
      <div class="title">
        <h2>Time line</h2>
        {turns.length > 0 && (
          <label>
            Show{' '}
            <select
              value={turn === undefined ? 'all' : String(turn)}
              onChange={(event) => (chosen.value = event.currentTarget.value)}
            >
              {turns.map((one) => (
                <option key={one} value={one}>
                  turn {one}
                </option>
              ))}
              <option value="all">everything</option>
            </select>
          </label>
        )}
      </div>
      <ProblemNote problem={problem.value} />
      {line?.truncated && <p class="quiet">Older entries are missing: its histories are too long.</p>}
      {line === null && !problem.value && <p class="quiet">Reading the histories…</p>}
      {line && items.length === 0 && <p class="quiet">Nothing has happened yet.</p>}
      {items.length > 0 && <Bars id={id} items={items.slice(-SHOWN)} hidden={items.length - SHOWN} />}
    </section>
  );
}

function Bars({ id, items, hidden }: { id: string; items: TimeLineEntry[]; hidden: number }): VNode {
  const now = Date.now();
  const endOf = ({ at, durationMs }: TimeLineEntry): number =>
    durationMs === null ? now : Date.parse(at) + durationMs;
  const from = Math.min(...items.map(({ at }) => Date.parse(at)));
  const to = Math.max(from + 1, ...items.map(endOf));
  const percent = (time: number): number => ((time - from) / (to - from)) * 100;
  return (
    <>
      <p class="axis" aria-hidden="true">
        <span>{clock(from)}</span>
        <span>{lasted(to - from)}</span>
        <span>{clock(to)}</span>
      </p>
      {hidden > 0 && <p class="quiet">{hidden} earlier entries are not shown.</p>}
      <ol>
        {items.map((one, index) => {
          const [left, right] = [percent(Date.parse(one.at)), percent(endOf(one))];
          return (
            <li key={`${one.at} ${one.kind} ${index}`} class={one.kind}>
              <Label id={id} one={one} />
              <span class="track" aria-hidden="true">
                <span class="bar" style={{ left: `${left}%`, width: `${right - left}%` }} />
              </span>
            </li>
          );
        })}
      </ol>
    </>
  );
}

function Label({ id, one }: { id: string; one: TimeLineEntry }): VNode {
  const { kind, at, durationMs, text, outcome, message, host, session } = one;
  const words = (
    <>
      <span class="kind">{KINDS[kind]}</span>{' '}
      <span>
        <span class="text">
          <ExactText text={text} />
        </span>{' '}
        <span class="quiet">
          {outcome !== null && (
            <>
              <ExactText text={outcome} />
              {', '}
            </>
          )}
          {host !== undefined && `${host} ${session}, `}
          <time dateTime={at}>{clock(Date.parse(at))}</time>,{' '}
          {durationMs === null ? 'goes on' : lasted(durationMs)}
        </span>
      </span>
    </>
  );
  if (message === null) return <span class="label">{words}</span>;
  return (
    <a class="label" href={`${linkTo('agents', id)}?message=${message}`}>
      {words}
    </a>
  );
}

const clock = (time: number): string => new Date(time).toLocaleTimeString();

/** `0.08 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
function lasted(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 90) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
