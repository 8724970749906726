// Small things that every page shows: problems, how long ago, empty pages, dialogs.
import { signal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { ProblemText } from '../api/call-api';

export const ProblemNote = ({ problem }: { problem: ProblemText | null }): VNode | null =>
  problem && (
    <p class="problem" role="alert">
      {problem.detail} <span class="next">{problem.next}</span>
    </p>
  );

const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 1_000);

/** `12 s`, `5 min`, `3 h`, `2 d`, brought up to date. */
export function Since({ at }: { at: string }): VNode {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {duration(now.value - Date.parse(at))}
    </time>
  );
}

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

export const Empty = ({ children }: { children: ComponentChildren }): VNode => (
  <div class="empty">{children}</div>
);

interface DialogProps {
  title: string;
  /** A person has closed it, without an answer. */
  onClose: () => void;
  isWide?: boolean;
  children: ComponentChildren;
}

/** Modal as long as it is there. Afterwards the focus is where it was before. */
export function Dialog({ title, onClose, isWide = false, children }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const id = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      isGone.current = true;
      shown?.close();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'wide-dialog' : ''}
      aria-labelledby={id}
      onClose={() => !isGone.current && onClose()}
    >
      <p id={id}>{title}</p>
      {children}
    </dialog>
  );
}

/** The safe answer is the one that Enter gives. */
export const Cancel = ({ children = 'Cancel' }: { children?: string }): VNode => (
  <button type="button" autofocus onClick={(event) => event.currentTarget.closest('dialog')?.close()}>
    {children}
  </button>
);

export const State = ({ state }: { state: string | null }): VNode => (
  <span class={`state ${state ?? 'unknown'}`}>{(state ?? 'unknown').replace('_', ' ')}</span>
);

export const money = (usd: number | null): string =>
  usd === null ? '–' : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

export const bytes = (count: number): string =>
  count < 1_000
    ? `${count} B`
    : count < 1_000_000
      ? `${(count / 1_000).toFixed(1)} kB`
      : `${(count / 1_000_000).toFixed(1)} MB`;
