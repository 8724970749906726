// Foreign text exactly as it is: characters that people cannot see, or see reordered, are written out and marked.
import type { VNode } from 'preact';

/** Controls but tab and line end; characters without a shape, or that change direction; spaces but the usual one. */
const UNSEEN = /((?![\t\n ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}])/u;

export function ExactText({ text }: { text: string }): VNode {
  return <>{text.split(UNSEEN).map((part, index) => (index % 2 === 0 ? part : mark(part, index)))}</>;
}

function mark(char: string, key: number): VNode {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return (
    <mark key={key} title="A character that cannot be seen">
      {`U+${code}`}
    </mark>
  );
}
