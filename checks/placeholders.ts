// Placeholders left for somebody to fill in: `[YOUR_API_KEY]`, `<INSERT_FILENAME_HERE>` and similar.
import type { SyntaxNode } from './bash/tree';
import type { Check } from './check-run';
import type { Placing } from './findings';

/** With more words around it, a line mentions a placeholder rather than containing one. */
const MOST_WORDS = 5;
/** How such a name begins, and what it refers to. */
const THING =
  '(?:API|ACCESS|AUTH|SECRET|PRIVATE|PUBLIC|CLIENT|USER|ACCOUNT|PROJECT|BUCKET|HOST|SERVER|DB|DATABASE|FILE|FOLDER|OPENAI|ANTHROPIC|AWS|GITHUB|BOT|APP|TENANT|ORG|REPO|EMAIL|DOMAIN|MODEL|BASE|URL|KEY|TOKEN|PASSWORD|NAME|USERNAME|PATH|ID)';
const UPPER = new RegExp(
  `^(?:(?:ENTER|INSERT|ADD|PUT|PASTE|FILL_IN|REPLACE_WITH|SET|TYPE|USE)_)?YOUR_[A-Z0-9_]*[A-Z0-9]$` +
    `|^(?:INSERT|ENTER|ADD|PUT|PASTE|FILL|REPLACE|TYPE|SET)_(?:[A-Z0-9_]+_)?HERE$` +
    `|^(?:[A-Z0-9]+_)*(?:KEY|TOKEN|PASSWORD|SECRET|FILENAME|PATH|URL|ID|NAME|EMAIL|VALUE)_(?:GOES_)?HERE$` +
    `|^REPLACE_(?:ME|THIS|WITH_[A-Z0-9_]+)$|^CHANGE_ME$|^FILL_ME_IN$`,
);
/** Only between brackets. */
const IN_BRACKETS = new RegExp(
  `^(?:INSERT|ENTER|REPLACE|PASTE)_[A-Z0-9_]*[A-Z0-9]$|^(?:${THING}_)+(?:KEY|TOKEN|PASSWORD|SECRET|NAME|PATH|ID|URL)$|^(?:FILENAME|USERNAME|PASSWORD)$`,
);
const LOWER =
  /^(?:(?:enter|insert|add|put|paste|replace-with|replace_with)[-_])?your[-_](?:[a-z0-9]+[-_])*(?:key|token|password|secret|username|bucket|name|id|url|path|email|domain|project|account|org|repo|host|server|value|model|endpoint|database|db)(?:[-_](?:goes[-_])?here)?$|^(?:insert|paste|put|enter)[-_](?:[a-z0-9]+[-_])+here$/;

export interface Gap {
  /** Offset in the text. */
  at: number;
  text: string;
}

/** The placeholders in one text of the code; a line of prose has none. */
export function placeholdersIn(text: string): Gap[] {
  const gaps: Gap[] = [];
  // Fast path: every placeholder contains one of these, most words do not.
  if (!/[[<]|[A-Za-z0-9][_-][A-Za-z]/.test(text)) return gaps;
  let start = 0;
  for (const line of text.split('\n')) {
    if (line.length < 4_096) gaps.push(...inLine(line).map((gap) => ({ ...gap, at: gap.at + start })));
    start += line.length + 1;
  }
  return gaps;
}

function inLine(line: string): Gap[] {
  const isProse = line.trim().split(/\s+/).length > MOST_WORDS;
  const gaps: Gap[] = [];
  const links: Gap[] = [];
  for (const match of bracketed(line)) {
    const name = match.text.slice(1, -1).trim().replace(/[ -]+/g, '_');
    // Not a Markdown link, an index, a variable, or a generic type argument.
    if (line.charAt(match.at + match.text.length) === '(') links.push(match);
    else if (/[\w$)\]]/.test(line.charAt(match.at - 1))) continue;
    else if (UPPER.test(name) || IN_BRACKETS.test(name) || LOWER.test(name)) gaps.push(match);
  }
  if (isProse) return gaps;
  for (const { 0: word, index } of line.matchAll(/[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)+/g)) {
    const isInside = [...gaps, ...links].some(({ at, text }) => index >= at && index < at + text.length);
    // `$YOUR_KEY`, `${YOUR_KEY}` and `your_key=` are variable names; `YOUR_KEY(` is a function.
    if (
      isInside ||
      /[$.\w-]$|\$\{$|\{\{\s*$/.test(line.slice(0, index)) ||
      (/^\s*[=(](?!=)/.test(line.slice(index + word.length)) && !/["']/.test(line))
    )
      continue;
    if (UPPER.test(word) || LOWER.test(word)) gaps.push({ at: index, text: word });
  }
  return gaps;
}

/** The text in one pair of square or angle brackets. */
function bracketed(line: string): Gap[] {
  const gaps: Gap[] = [];
  for (const { 0: text, index } of line.matchAll(/\[[A-Za-z][\w -]{2,60}\]|<[A-Za-z][\w -]{2,60}>/g))
    gaps.push({ at: index, text });
  return gaps;
}

/** Whether an undefined name is meant to be filled in. */
export const isPlaceholderName = (name: string): boolean => UPPER.test(name);

export const UNFILLED = 'a placeholder that was not filled in';
/** These programs mention texts, or search for them. */
const SEARCHES = /^(?:e?grep|fgrep|rg|ag|ack|sed|awk|gawk|perl|find|fd|tr|test|\[|\[\[|envsubst|man)$/;
const PRINTS = /^(?:echo|printf)$/;

/** Adds findings for shell words and texts. */
export class PlaceholderRules {
  constructor(
    private readonly check: Check,
    private readonly placing: Placing,
  ) {}

  /** @param base offset of the text in its code */
  text(text: string, base: number): void {
    for (const { at, text: found } of placeholdersIn(text))
      this.check.findings.add('placeholder', this.placing(base + at, base + at + found.length), UNFILLED);
  }

  word(code: string, node: SyntaxNode): void {
    if (/_substitution$|expansion$/.test(node.type)) return;
    this.text(code.slice(node.start, node.end), node.start);
  }

  /** The words of one command. */
  command(code: string, nodes: readonly SyntaxNode[]): void {
    const [program, ...args] = nodes.map(({ start, end }) => code.slice(start, end));
    if (program === undefined || SEARCHES.test(program)) return;
    if (program === 'git' && /^(?:grep|commit|log|tag)$/.test(args[0] ?? '')) return;
    // Output for somebody to read.
    if (PRINTS.test(program) && args.join(' ').split(/\s+/).length > 2) return;
    for (const node of nodes) this.word(code, node);
  }

  /** To the shell, `<INSERT_FILE>` without quotes is two redirections. */
  redirection(code: string, target: SyntaxNode): void {
    const [start, end] = [target.start - 1, target.end + 1];
    if (code.charAt(start) !== '<' || code.charAt(target.end) !== '>') return;
    const name = code.slice(target.start, target.end);
    if (UPPER.test(name) || IN_BRACKETS.test(name))
      this.check.findings.add('placeholder', this.placing(start, end), UNFILLED);
  }
}
