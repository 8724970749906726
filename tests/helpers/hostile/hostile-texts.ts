// Texts that try to control a terminal, or to make a person see something that is not there; and values made of
// them, in the shape of what our commands render.

/** Distinguishable from the rest of the output. */
export const MARK = 'evil';
/** Starts a new line, if it gets through. */
const FORGED = 'FORGED';

/** ESC sequences of which ours are none: clear with the scrollback, report, conceal, clipboard, link, title. */
const SEQUENCES =
  '\x1b[3J\x1b[6n\x1b[8mhidden\x1b[48;5;1m\x1b]52;c;ZXZpbA==\x07\x1b]8;;http://evil.example\x1b\\link\x1b]0;title\x07\x1bP0;1|17/63\x1b\\\x1bc';
const C1 = '\u009b2J\u009d0;title\u009c\u0085\u0090';
const CONTROLS = '\x00\x07\b\b\v\f\r\x7f';
const REORDERING = '\u202e\u202d\u2066\u2067\u2069\u061c\u2028\u2029';
const UNSEEN = '\u200b\u200d\u200f\u2060\ufeff\u00ad\u034f\u3164\u180e\u{e0041}\ufe00';

/** For ids and paths, which hold no NUL, no slash and no half of a surrogate pair. */
export const HOSTILE_NAME = `${MARK}\u200b\x1b[3J\u009b2J\b\x7f\u202e\u2028\n${FORGED}`;
export const HOSTILE = `${MARK}${UNSEEN}${SEQUENCES}${C1}${CONTROLS}${REORDERING}\ud800\n${FORGED}\n`;
/** Output of sessions and models, text in any script: invisible characters in it may stay. */
export const HOSTILE_SAID = `said${UNSEEN}${SEQUENCES}${C1}${CONTROLS}${REORDERING} said`;

/** The log of a worker: two lines of JSON, and one that a module has printed. */
export const HOSTILE_LOG = [
  JSON.stringify({
    level: 'warn',
    time: HOSTILE,
    process: HOSTILE,
    agent: HOSTILE,
    message: HOSTILE,
    [HOSTILE]: HOSTILE,
  }),
  JSON.stringify({ level: 'info', error: { message: HOSTILE } }),
  `${HOSTILE.split('\n').join(' ')}\n`,
].join('\n');

/** In samples, a placeholder for foreign text, and for output of sessions and models. */
export const TEXT = '<text>';
export const SAID = '<said>';

/** A type without its question marks, nulls and empty lists: a sample of it has every field, a new one too. */
export type Whole<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? [Whole<Item>, ...Whole<Item>[]]
    : T extends object
      ? { [Key in keyof T]-?: Whole<NonNullable<T[Key]>> }
      : T;

/**
 * `typed`: hostile where the type is `string`. `untyped`: in place of words such as `running` and of times, too, for a
 * host that keeps to no type.
 */
export type Hostility = 'typed' | 'untyped';

interface Texts {
  /** Words that stay, because a command would wait for ever without them. */
  kept?: readonly string[];
  text?: string;
  said?: string;
}

/** A sample with hostile texts in it. */
export function hostile<T>(
  sample: T,
  how: Hostility,
  { kept = [], text = HOSTILE, said = HOSTILE_SAID }: Texts = {},
): T {
  const of = (value: unknown): unknown => {
    if (value === TEXT) return text;
    if (value === SAID) return said;
    if (typeof value === 'string') return how === 'typed' || kept.includes(value) ? value : text;
    if (Array.isArray(value)) return value.map(of);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key === TEXT ? text : key, of(one)]),
    );
  };
  return of(sample) as T;
}

/** In a terminal: our own colours. */
// eslint-disable-next-line no-control-regex -- control characters are the point
const COLOURS = /\x1b\[(?:1|2|22|31|32|33|36|39)m/g;
/** Printable ASCII, line ends, tabs, and the few other characters in our own texts. */
const ALLOWED = /^[\x20-\x7e\n\t\ufffd…–’“”·├└│─]*$/;
/** Joiners, selectors and the like, which letters of other scripts and emoji need. */
const JOINERS = /(?<=said)[\u034f\ufe00\u200b-\u200f\u2060\ufeff\u00ad\u3164\u180e\u{e0041}]+/gu;
/** As a progress bar has them: they move within a line. */

const MOVES = /[\b\r]+(?=[^\n]* said)/g;

interface Shown {
  tty: boolean;
  /** Where the output of a session is printed as it is: colours, backspaces and carriage returns. */
  isOutput?: boolean;
}

/** The part of a text that is neither ours nor inert; '' if none. */
export function active(text: string, { tty, isOutput = false }: Shown): string {
  let rest = text.replace(JOINERS, '');
  if (tty) rest = rest.replace(COLOURS, '');
  // eslint-disable-next-line no-control-regex -- control characters are the point
  if (tty && isOutput) rest = rest.replace(/\x1b\[(?:8|48;5;1)m/g, '');
  if (isOutput) rest = rest.replace(MOVES, '');
  // A pipe may lead to a program, which gets the text in the order in which it was written.
  if (!tty) rest = rest.replace(/(?<=said[^\n]*)[\u202d\u202e\u2066-\u2069\u061c\u2028\u2029]+/g, '');
  const lines = rest.split('\n').filter((line) => !ALLOWED.test(line) || line.startsWith(FORGED));
  return lines.map((line) => JSON.stringify(line)).join('\n');
}

/** What a client of `holdfast mcp` asks about an agent with hostile texts. */
export const MCP_INPUT = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '0' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/call', params: { name: 'agent_state', arguments: { agent: MARK } } },
]
  .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  .join('');

/** A command, as a test of what it shows gives it. */
export interface Line {
  args: string[];
  /** What stdin holds; without it stdin is at its end. */
  input?: string;
  /** It stays open until this is there. */
  inputEnds?: RegExp;
  /** Shows the output of a session as a terminal does. */
  isOutput?: boolean;
  /** Needs no server, and has no such options. */
  isAlone?: boolean;
  /** Its data folder. */
  data?: string;
  /** It waits for a second each time. */
  isSlow?: boolean;
  /** Workflows that it ends. */
  ends?: string[];
}
