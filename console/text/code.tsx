// Code exactly as it is, with line numbers, so that a long one can be talked about, and with colours.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { ExactText } from './exact-text';
import { linesOf, tokensOf, type Token } from './highlight';
import { whenSeen } from './when-seen';

interface CodeProps {
  text: string;
  label: string;
  /** Null if it is not known. */
  language: string | null;
}

export function Code({ text, label, language }: CodeProps): VNode {
  const place = useRef<HTMLPreElement>(null);
  const isSeen = useSignal(false);
  useEffect(() => (place.current ? whenSeen(place.current, () => (isSeen.value = true)) : undefined), []);
  const lines = useMemo(
    () => linesOf(tokensOf(text, isSeen.value ? language : null)),
    [text, language, isSeen.value],
  );
  return (
    <pre class="code" tabIndex={0} aria-label={label} role="region" ref={place}>
      {lines.map((tokens, index) => (
        <span key={index} class="line">
          {tokens.map(colored)}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

const colored = ({ kind, text }: Token, key: number): VNode =>
  kind === null ? (
    <ExactText key={key} text={text} />
  ) : (
    <span key={key} class={`token token-${kind}`}>
      <ExactText text={text} />
    </span>
  );
