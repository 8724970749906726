// Texts for Temporal's web UI, which renders summaries and details as Markdown with HTML in it. Whatever a model,
// a program or a person wrote goes through here first: it stays text, and of a bounded length. Pure.
import { inertText } from './inert';

/* eslint-disable no-control-regex -- control characters are the point */
/** ECMA-48: CSI, strings such as OSC, and the short sequences. */
const SEQUENCE = /\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[P\]X^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-Z\\^-~]?/g;
/** Controls, and what turns the direction of a text or breaks its lines unseen. */
const CONTROL =
  /[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Cs}]+/gu;
const PUNCTUATION = /[\\`*_{}[\]()<>#|~!&$]/g;
/** Temporal takes 400 bytes of a summary: a hundred characters of four bytes at the most. */
const LABEL_CHARACTERS = 96;

/** One line of plain text, at most about a hundred characters. */
export function label(text: string, maxCharacters = LABEL_CHARACTERS): string {
  const line = text.replace(SEQUENCE, '').replace(CONTROL, ' ').replace(/ +/g, ' ').trim();
  const characters = [...line.slice(0, 2 * maxCharacters + 2)];
  return characters.length > maxCharacters
    ? `${characters.slice(0, maxCharacters - 1).join('')}…`
    : characters.join('');
}

/** A label inside Markdown, where none of its characters means anything. */
export const inMarkdown = (text: string, maxCharacters?: number): string =>
  label(text, maxCharacters).replace(PUNCTUATION, '\\$&');

/** JSON or a name as code inside Markdown. */
const inCode = (text: string): string => {
  if (!text.includes('`')) return `\`${text}\``;
  // Longer than any run of backquotes in it (CommonMark 6.1), and spaces, or one at its end would count.
  const around = '`'.repeat(1 + Math.max(...[...text.matchAll(/`+/g)].map(([run]) => run.length)));
  return `${around} ${text} ${around}`;
};

/** The end of a text of several lines; what a reader would not see is written out. */
export function fenced(whole: string, maxCharacters: number): string {
  const text = inertText(whole.slice(-maxCharacters).replace(/^[\uDC00-\uDFFF]/, ''));
  // Longer than any run of backquotes in it, so that none of it ends the fence (CommonMark 4.5).
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** A link to a workflow's page, which the web UI opens in a new tab. */
export const workflowLink = (namespace: string, workflowId: string): string =>
  link(`/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`, workflowId);

/** A link to the list of the workflows that a query finds. */
export const listLink = (namespace: string, query: string, text: string): string =>
  link(`/namespaces/${namespace}/workflows?query=${encodeURIComponent(query)}`, text);

const link = (path: string, text: string): string => `[${text}](${path})`;

/** `2026-11-21 11:08:06 UTC`. */
export const atTime = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** What an operator can do here: what for, which message, its JSON or null for no data. */
export const messageList = (
  messages: readonly (readonly [what: string, how: string, json: string | null])[],
): string =>
  messages
    .map(([what, how, json]) => `- to ${what}: ${how}${json === null ? '' : ` with ${inCode(json)}`}`)
    .join('\n');
