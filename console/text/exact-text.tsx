// Foreign text exactly as it is: characters that people cannot see, or see reordered, are written out and marked.
import type { VNode } from 'preact';

/** Controls but tab and line end; characters without a shape, or that change direction; spaces but the usual one. */
const UNSEEN = /((?![\t\n ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}])/u;

export function ExactText({ text }: { text: string }): VNode {
  return <>{text.split(UNSEEN).map((part, index) => (index % 2 === 0 ? part : mark(part, index)))}</>;
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
    .flatMap((part) => part.split(UNSEEN))
    .map((part) => (/^[\t\n]$/.test(part) || UNSEEN.test(part) ? nameOf(part) : part))
    .join('');

const nameOf = (char: string): string =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

const mark = (char: string, key: number): VNode => (
  <mark key={key} title="A character that cannot be seen">
    {nameOf(char)}
  </mark>
);
