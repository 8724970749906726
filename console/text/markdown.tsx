// An answer as Markdown, made harmless: no scripts, styles, forms or pictures, and links show where they lead.
import DOMPurify from 'dompurify';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { tokensOf } from './highlight';
import { exactLine } from './exact-text';
import { htmlOf } from './limited-markdown';
import { whenSeen } from './when-seen';

const TAGS = [
  ...['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'a'],
  ...['ul', 'ol', 'li', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
];
/** `class` only as the language of code. */
const ATTRIBUTES = ['href', 'start', 'class'];
const WEB = /^https?:\/\//i;
const LANGUAGE = /^language-([\w+#-]{1,30})$/;

DOMPurify.addHook('uponSanitizeAttribute', (element, attribute) => {
  if (attribute.attrName !== 'class') return;
  attribute.keepAttr = element.nodeName === 'CODE' && LANGUAGE.test(attribute.attrValue);
});

/** As a fragment of the document: no text becomes markup after it was cleaned. */
function clean(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    ...{ ALLOWED_TAGS: TAGS, ALLOWED_ATTR: ATTRIBUTES, ALLOWED_URI_REGEXP: WEB },
    // No address, though it is held against the pattern of addresses by default.
    ADD_URI_SAFE_ATTR: ['start'],
    ...{ ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false, RETURN_DOM_FRAGMENT: true },
  });
  for (const link of fragment.querySelectorAll('a')) showTarget(link);
  for (const block of fragment.querySelectorAll('pre')) block.tabIndex = 0;
  return fragment;
}

/** The words of a link are the model's; where it leads stands behind them. */
function showTarget(link: HTMLAnchorElement): void {
  const target = link.getAttribute('href');
  if (target === null) return;
  link.rel = 'noopener noreferrer';
  link.target = '_blank';
  const shown = exactLine(target);
  if (link.textContent === shown) {
    link.dir = 'ltr';
    return;
  }
  const note = document.createElement('span');
  note.className = 'target';
  // In its own order, whatever characters that change direction stand before it.
  note.dir = 'ltr';
  note.textContent = ` (${shown})`;
  link.after(note);
}

/** As it is if it cannot be read: an error in an effect would also end the effects of all that is shown later. */
function shown(text: string): Node {
  try {
    const html = htmlOf(text);
    if (html !== null) return clean(html);
  } catch {
    // Text is better than nothing.
  }
  const plain = document.createElement('p');
  plain.className = 'plain-text';
  plain.textContent = text;
  return plain;
}

/** For code whose language is given. Its tokens are texts: nothing is read as markup again. */
function color(code: Element): void {
  const [, language] = LANGUAGE.exec(code.className) ?? [];
  const tokens = tokensOf(code.textContent, language ?? null);
  if (tokens.every(({ kind }) => kind === null)) return;
  code.replaceChildren(
    ...tokens.map(({ kind, text }) => {
      if (kind === null) return text;
      const token = document.createElement('span');
      token.className = `token token-${kind}`;
      token.textContent = text;
      return token;
    }),
  );
}

export function Markdown({ text }: { text: string }): VNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.replaceChildren(shown(text));
    const blocks = place.current?.querySelectorAll('pre > code[class]') ?? [];
    const cancels = [...blocks].map((code) => whenSeen(code, () => color(code)));
    return () => cancels.forEach((cancel) => cancel());
  }, [text]);
  return <div class="markdown" ref={place} />;
}
