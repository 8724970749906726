// Placeholders left for somebody to fill in: `[YOUR_API_KEY]`, `<INSERT_FILENAME_HERE>` and similar.
import type { Audience } from './bash/parts';
import type { SyntaxNode } from './bash/syntax-tree';
import type { Check } from './check-run';
import { parseArguments, programName, type Word } from './commands/command';
import { isFollowed } from './commands/interpreters';
import { innermost } from './commands/wrappers';
import type { Placing } from './findings';
import { isTemplateFile } from './paths';

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

/** In SQL, names of columns and tables stand in square brackets. */
const SQL = /\b(?:select|insert\s+into|update|delete\s+from|(?:create|alter)\s+table)\b/i;
const USAGE = /\busage:/i;

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
  const isSql = SQL.test(text);
  let start = 0;
  let isUsage = false;
  for (const line of text.split('\n')) {
    // With the indented lines below it.
    isUsage = USAGE.test(line) || (isUsage && /^#?\s+\S/.test(line));
    if (line.length < 4_096 && !isUsage)
      gaps.push(...inLine(line, isSql).map((gap) => ({ ...gap, at: gap.at + start })));
    start += line.length + 1;
  }
  return gaps;
}

function inLine(line: string, isSql: boolean): Gap[] {
  const isProse = line.trim().split(/\s+/).length > MOST_WORDS;
  const gaps: Gap[] = [];
  const links: Gap[] = [];
  for (const match of bracketed(line)) {
    const name = match.text.slice(1, -1).trim().replace(/[ -]+/g, '_');
    const after = line.charAt(match.at + match.text.length);
    const isSquare = match.text.startsWith('[');
    // Not a Markdown link, an index, a variable, a generic type argument, a key of an array, or a column.
    if (after === '(') links.push(match);
    else if (/[\w$)\]]/.test(line.charAt(match.at - 1)) || (isSquare && after === '=')) continue;
    else if (UPPER.test(name) || LOWER.test(name)) gaps.push(match);
    else if (IN_BRACKETS.test(name) && !(isSquare && isSql)) gaps.push(match);
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
/** So do these subcommands. */
const MENTIONS = new Map([
  ['git', /^(?:grep|commit|log|tag)$/],
  ['gh', /^(?:pr|issue|release)$/],
]);

/** The words as they are written. */
const wordsOf = (code: string, nodes: readonly SyntaxNode[]): Word[] =>
  nodes.map(({ start, end }) => ({ text: code.slice(start, end), place: { start, end } }));

/** Which word is code, as in `bash -c` and `ssh host`; -1 if none is. It is followed, with the rules for its words. */
function codeAt([program, ...args]: readonly Word[]): number {
  if (!program || /\s/.test(program.text)) return 0;
  const at = args.findIndex(({ text }) => !text.startsWith('-'));
  const isGiven = /^-\w*[cep]$|^--(?:eval|print)$/.test(args[at - 1]?.text ?? '');
  return isGiven && isFollowed(programName(program.text)) ? at + 1 : -1;
}

/** Adds findings for shell words and texts. */
export class PlaceholderRules {
  constructor(
    private readonly check: Check,
    private readonly placing: Placing,
    private readonly audience: Audience = 'program',
  ) {}

  /** @param base offset of the text in its code */
  text(text: string, base: number): void {
    const { findings } = this.check;
    for (const { at, text: found } of placeholdersIn(text))
      if (!findings.replaced.has(found))
        findings.add('placeholder', this.placing(base + at, base + at + found.length), UNFILLED);
  }

  word(code: string, node: SyntaxNode): void {
    if (/_substitution$|expansion$/.test(node.type)) return;
    this.text(code.slice(node.start, node.end), node.start);
  }

  /** The words of one command; returns whether it only mentions its arguments. */
  command(code: string, nodes: readonly SyntaxNode[]): boolean {
    const words = innermost(wordsOf(code, nodes));
    const own = nodes.length - words.length;
    const mentions = this.mentions(programName(words[0]?.text ?? ''), words.slice(1));
    const codeIndex = own + codeAt(words);
    for (const [at, node] of nodes.entries())
      if (at < own || !(mentions || at === codeIndex)) this.word(code, node);
    return mentions;
  }

  /** A here-document. */
  input(code: string, body: SyntaxNode, command: SyntaxNode | undefined): void {
    const nodes = (command?.children ?? []).filter(({ type }) => type !== 'variable_assignment');
    const [program, ...args] = innermost(wordsOf(code, nodes));
    const name = programName(program?.text ?? '');
    const files = args.filter(({ text }) => !text.startsWith('-'));
    const isShown = name === 'cat' && this.audience !== 'program';
    const fills = name === 'tee' && files.length > 0 && files.every(({ text }) => isTemplateFile(text));
    const isCode = isFollowed(name) ? files.length === 0 : /^(?:ssh|su|sudo|doas)$/.test(name);
    // With `:` it is a comment.
    if (isShown || fills || isCode || name === ':' || this.mentions(name, args)) return;
    this.text(code.slice(body.start, body.end), body.start);
  }

  private mentions(name: string, args: Word[]): boolean {
    if (PRINTS.test(name)) {
      const count = args.flatMap(({ text }) => text.split(/\s+/)).length;
      // Output for somebody to read.
      return count > 2 || this.audience === 'template';
    }
    const subcommands = MENTIONS.get(name);
    if (!subcommands) return SEARCHES.test(name);
    return subcommands.test(parseArguments(args, 'C c git-dir work-tree R repo', true).rest[0]?.text ?? '');
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
