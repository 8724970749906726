// Where the person is, by the fragment: `#/agents/ID?key=value`.
import { signal } from '@preact/signals';

export interface Place {
  /** `agents`, then what follows it. */
  parts: string[];
  query: URLSearchParams;
}

export const place = signal<Place>(read());
addEventListener('hashchange', () => {
  place.value = read();
  scrollTo(0, 0);
});

function read(): Place {
  // The token of a link is no place.
  const hash = location.hash.startsWith('#token=') ? '' : location.hash;
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const parts = path.split('/').filter(Boolean).map(decoded);
  return { parts: parts.length > 0 ? parts : ['inbox'], query: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const linkTo = (...parts: (string | number)[]): string =>
  `#/${parts.map((part) => encodeURIComponent(part)).join('/')}`;
