// Keeps a person who answers one card after the other where they are: when the card with the focus goes, the next one has it.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** @param keys of the cards, which are the children of the element, in order */
export function useFocusOnNext(keys: readonly string[]): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  const before = useRef<readonly string[]>([]);
  const focused = useRef<string | null>(null);
  const shown = JSON.stringify(keys);
  useLayoutEffect(() => {
    const cards = [...(list.current?.children ?? [])];
    const look = (event: FocusEvent): void => {
      const at = cards.findIndex((card) => card.contains(event.target as Node));
      focused.current = keys[at] ?? null;
    };
    const place = focused.current === null ? -1 : before.current.indexOf(focused.current);
    before.current = keys;
    const isGone = place >= 0 && !keys.includes(focused.current ?? '');
    // A person who has moved the focus meanwhile keeps it where it is.
    if (isGone && document.activeElement === document.body) {
      const next = cards[Math.min(place, cards.length - 1)];
      if (next instanceof HTMLElement) {
        next.focus();
        focused.current = keys[Math.min(place, cards.length - 1)] ?? null;
      }
    }
    document.addEventListener('focusin', look);
    return () => document.removeEventListener('focusin', look);
  }, [shown]);
  return list;
}
