// Which messages of a conversation are in the page: its end, or those around a place. Drawing all of a long one would keep
// the page from answering.
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

const SHOWN = 60;
export const MORE = 200;
/** Before the place that was asked for. */
const BEFORE = 5;

export interface ShownWindow {
  first: number;
  /** After the last one. */
  end: number;
  earlier: () => void;
  later: () => void;
}

/** @param place index of a message that has to be there; null: the end */
export function useShownWindow(count: number, place: number | null): ShownWindow {
  const from = useSignal<number | null>(null);
  /** Null: to the end, wherever that is. */
  const to = useSignal<number | null>(null);
  useLayoutEffect(() => {
    from.value = place === null ? null : Math.max(0, place - BEFORE);
    to.value = place === null ? null : place + SHOWN;
  }, [place]);
  const end = to.value === null ? count : Math.min(count, to.value);
  const first = Math.max(0, Math.min(from.value ?? count - SHOWN, end));
  return {
    ...{ first, end },
    earlier: () => (from.value = Math.max(0, first - MORE)),
    later: () => (to.value = end + MORE >= count ? null : end + MORE),
  };
}
