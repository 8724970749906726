// Foreign text exactly as it is: characters that people cannot see, or see reordered, are written out and marked.
import type { VNode } from 'preact';

/** Controls but tab and line end; characters without a shape, or that change direction; spaces but the usual one. */
const UNSEEN = /((?![\t\n ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}])/u;
/** More elements in one text would keep the page from answering: the rest of it is one. */
const MAX_MARKS = 1_000;

export function ExactText({ text }: { text: string }): VNode {
  const parts = text.split(UNSEEN);
  const marked = parts.slice(0, 2 * MAX_MARKS);
  const rest = namesIn(parts.slice(marked.length));
  return (
    <>
      {marked.map((part, index) => (index % 2 === 0 ? part : mark(part, index)))}
      {marked.length < parts.length && <mark title="With characters that cannot be seen">{rest}</mark>}
    </>
  );
}

/** The same for what is one line, such as a path: the end of a line, and a tab, are written out, too. */
export function ExactLine({ text }: { text: string }): VNode {
  const parts = text.split(/([\t\n])/);
  return (
    <>
      {parts.map((part, index) =>
        index % 2 === 0 ? <ExactText key={index} text={part} /> : mark(part, index),
      )}
    </>
  );
}

/** The same as a text, for labels. */
export const exactLine = (text: string): string =>
  text
    .split(/([\t\n])/)
    .map((part, index) => (index % 2 === 0 ? namesIn(part.split(UNSEEN)) : nameOf(part)))
    .join('');

/** @param parts of which each second one cannot be seen */
const namesIn = (parts: readonly string[]): string =>
  parts.map((part, index) => (index % 2 === 0 ? part : nameOf(part))).join('');

const nameOf = (char: string): string =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

const mark = (char: string, key: number): VNode => (
  <mark key={key} title="A character that cannot be seen">
    {nameOf(char)}
  </mark>
);
