// An answer as Markdown, made harmless: no scripts, styles, forms or pictures, and links show where they lead.
import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

const TAGS = [
  ...['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'a'],
  ...['ul', 'ol', 'li', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
];
const ATTRIBUTES = ['href', 'start'];
const WEB = /^https?:\/\//i;

/** Markup in an answer is shown, not obeyed and not left out; pictures are links, so that nothing is fetched. */
const markdown = new Marked({
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || 'picture')}</a>`,
  },
});

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** As a fragment of the document: no text becomes markup after it was cleaned. */
function clean(text: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(markdown.parse(text, { async: false, gfm: true }), {
    ...{ ALLOWED_TAGS: TAGS, ALLOWED_ATTR: ATTRIBUTES, ALLOWED_URI_REGEXP: WEB },
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
  if (link.textContent === target) return;
  const note = document.createElement('span');
  note.className = 'target';
  note.textContent = ` (${target})`;
  link.after(note);
}

export function Markdown({ text }: { text: string }): VNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.replaceChildren(clean(text)), [text]);
  return <div class="markdown" ref={place} />;
}
