// A long list of which only what is in view is in the page. All rows are equally high.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface VirtualListProps<Item> {
  items: Item[];
  rowPx: number;
  label: string;
  keyOf: (item: Item) => string;
  row: (item: Item) => VNode;
}

const AROUND = 10;

export function VirtualList<Item>({ items, rowPx, label, keyOf, row }: VirtualListProps<Item>): VNode {
  const list = useRef<HTMLUListElement>(null);
  const from = useSignal(0);
  const count = useSignal(50);
  useEffect(() => {
    const look = (): void => {
      const top = list.current?.getBoundingClientRect().top ?? 0;
      from.value = Math.max(0, Math.floor(-top / rowPx) - AROUND);
      count.value = Math.ceil(innerHeight / rowPx) + 2 * AROUND;
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [rowPx]);
  const first = Math.min(from.value, Math.max(0, items.length - count.value));
  const shown = items.slice(first, first + count.value);
  return (
    <ul class="rows" ref={list} aria-label={label} style={{ height: `${items.length * rowPx}px` }}>
      {shown.map((item, index) => (
        <li
          key={keyOf(item)}
          aria-setsize={items.length}
          aria-posinset={first + index + 1}
          style={{ transform: `translateY(${(first + index) * rowPx}px)`, height: `${rowPx}px` }}
        >
          {row(item)}
        </li>
      ))}
    </ul>
  );
}
