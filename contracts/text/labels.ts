// Texts for Temporal's web UI, which renders a workflow's summary and details as Markdown with HTML. Everything that a
// model, a program or a person wrote goes through here first: it stays text, of bounded length. Pure.
import { escapeActive, inertText, withoutActive } from './inert';
import { beginningOf, endOf } from './well-formed';

/* eslint-disable no-control-regex -- control characters are the point */
/** ECMA-48: CSI, strings such as OSC, and the short sequences. */
const SEQUENCE = /\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[P\]X^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-Z\\^-~]?/g;
const PUNCTUATION = /[\\`*_{}[\]()<>#|~!&$]/g;
/** What has a meaning anywhere in a single line. */
const PUNCTUATION_OF_LINE = /[\\`*_[<&~$]/g;
/** What makes a line a heading, a quotation, a list item, a table or a rule. */
const BEGINNING = /^(\d*)(?=[-+=:#>|.)])/;
/** The web UI turns such addresses into links by itself. */
const SCHEME = /\b(https?|ftp|file|mailto):/gi;
/** Temporal allows 400 bytes for a summary: a hundred characters of at most four bytes, escaped ones included. */
const LABEL_CHARACTERS = 96;

/** One line of plain text, at most about a hundred characters. */
export function label(text: string, maxCharacters = LABEL_CHARACTERS): string {
  const line = withoutActive(text.replace(SEQUENCE, '')).replace(/ +/g, ' ').trim();
  const characters = [...beginningOf(line, 2 * maxCharacters + 2)];
  return characters.length > maxCharacters
    ? `${characters.slice(0, maxCharacters - 1).join('')}…`
    : characters.join('');
}

/** A label for use inside Markdown, with every special character escaped. */
export const inMarkdown = (text: string, maxCharacters?: number): string =>
  escaped(label(text, maxCharacters), PUNCTUATION);

/**
 * A label as a workflow's summary: Markdown on its own page, plain text on its parent's page and in Temporal's command
 * line. So only what must be escaped is.
 */
export const asSummary = (text: string): string => escaped(label(text), PUNCTUATION_OF_LINE);

const escaped = (line: string, punctuation: RegExp): string =>
  line.replace(punctuation, '\\$&').replace(BEGINNING, '$1\\').replace(SCHEME, '$1\\:');

/** JSON or a name as code inside Markdown. */
const inCode = (code: string): string => {
  const text = escapeActive(code);
  if (!text.includes('`')) return `\`${text}\``;
  // Longer than any run of backquotes in it (CommonMark 6.1), and padded with spaces, or a backquote at its end would
  // count.
  const around = '`'.repeat(1 + Math.max(...[...text.matchAll(/`+/g)].map(([run]) => run.length)));
  return `${around} ${text} ${around}`;
};

/** The end of a multi-line text; invisible characters are written out. */
export function fenced(whole: string, maxCharacters: number): string {
  const text = inertText(endOf(whole, maxCharacters));
  // Longer than any run of backquotes in it, so that none of it ends the fence (CommonMark 4.5).
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** A link to a workflow's page, which the web UI opens in a new tab. */
export const workflowLink = (namespace: string, workflowId: string): string =>
  link(pathOf(namespace, `/${inAddress(workflowId)}`), workflowId);

/** A link to the list of workflows that match a query. */
export const listLink = (namespace: string, query: string, text: string): string =>
  link(workflowList(namespace, query), text);

/** The path of the list of workflows that match a query, in the web UI. */
export const workflowList = (namespace: string, query: string): string =>
  pathOf(namespace, `?query=${inAddress(query)}`);

const pathOf = (namespace: string, rest: string): string =>
  `/namespaces/${inAddress(namespace)}/workflows${rest}`;

/** Parentheses would end the address of a link, and half a surrogate pair has no encoding. */
export const inAddress = (text: string): string =>
  encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'))
    .replaceAll('(', '%28')
    .replaceAll(')', '%29');

const link = (path: string, text: string): string => `[${inMarkdown(text, Infinity)}](${path})`;

/** `2026-11-21 11:08:06 UTC`. */
export const atTime = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** What an operator can do here: the purpose, the message, its JSON or null for no data. */
export const messageList = (
  messages: readonly (readonly [what: string, how: string, json: string | null])[],
): string =>
  messages
    .map(([what, how, json]) => `- to ${what}: ${how}${json === null ? '' : ` with ${inCode(json)}`}`)
    .join('\n');
