// Foreign text exactly as it is: characters that people cannot see, or see reordered, are written out and marked.
import type { ComponentChildren, VNode } from 'preact';

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

/** Words, strings and comments of shells, Python and JavaScript, coarsely: colour helps reading and decides nothing. */
const TOKEN =
  /(#[^\n]*|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`]*`|\b(?:if|then|else|elif|fi|for|while|do|done|case|esac|in|function|def|class|return|import|from|as|with|try|except|finally|raise|const|let|var|await|async|new|throw|catch|export|sudo|rm)\b)/;

/** With line numbers, so that a long one can be talked about. */
export function Code({ text, label }: { text: string; label: string }): VNode {
  return (
    <pre class="code" tabIndex={0} aria-label={label} role="region">
      {text.split('\n').map((line, index) => (
        <span key={index} class="line">
          {colored(line)}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

const colored = (line: string): ComponentChildren =>
  line.split(TOKEN).map((part, index) =>
    index % 2 === 0 ? (
      <ExactText key={index} text={part} />
    ) : (
      <span key={index} class={classOf(part)}>
        <ExactText text={part} />
      </span>
    ),
  );

const classOf = (token: string): string =>
  /^(#|\/\/)/.test(token) ? 'comment' : /^["'`]/.test(token) ? 'string' : 'word';
