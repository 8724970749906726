// Code that a model escaped twice: one line, with the text \n where its lines should end. It cannot run like that, so
// it is unescaped once. Code in which every \n may be intended is left alone.
import type { ToolCall } from '../../contracts/agents/agent';
import { CODE_LANGUAGES, type ArgumentRoles, type CodeLanguage } from '../../contracts/tools/call-facts';

/** What a tool declares about the code in its arguments. */
export interface DeclaredCode {
  argumentRoles?: ArgumentRoles;
  codeLanguage?: CodeLanguage;
}

const repaired = (name: string): string =>
  `The argument "${name}" was escaped twice: it had the text \\n in place of line ends. It was unescaped once before it ran.`;

/** The call with the argument that is code repaired if necessary, and `repaired` saying so. */
export function withMendedCode(call: ToolCall, declared: DeclaredCode): ToolCall {
  const { code: name } = declared.argumentRoles ?? {};
  if (name === undefined) return call;
  const code = call.args[name];
  if (typeof code !== 'string') return call;
  const language = languageOf(call, declared);
  if (!isEscapedTwice(code, language)) return call;
  return { ...call, args: { ...call.args, [name]: unescapeOnce(code, language) }, repaired: repaired(name) };
}

function languageOf({ args }: ToolCall, { argumentRoles, codeLanguage }: DeclaredCode): CodeLanguage {
  if (codeLanguage) return codeLanguage;
  const { runtime } = argumentRoles ?? {};
  const named = runtime === undefined ? undefined : args[runtime];
  return CODE_LANGUAGES.find((language) => language === named) ?? 'shell';
}

/** Whether the code, read as the single line that it is, holds a \n that has no meaning at its place. */
function isEscapedTwice(code: string, language: CodeLanguage): boolean {
  if (/[\r\n]/.test(code) || !code.includes('\\n')) return false;
  const comment = language === 'nodejs' ? /^\s*\/\// : /^\s*#/;
  // The code would be nothing but a comment.
  if (comment.test(code)) return true;
  for (let at = 0; at < code.length;) {
    const end = literalEnd(code, at, language);
    if (end === 'open') return code.includes('\\n', at);
    if (end !== null) at = end;
    else if (beginsComment(code, at, language)) return endsInComment(code.slice(at));
    else if (code[at] !== '\\') at += 1;
    else if (code[at + 1] === 'n' && isLineEnd(code, at, language)) return true;
    else at += 2;
  }
  return false;
}

/** In a shell an unquoted \n is the letter n: `tr -d \n` may be intended, `cd /tmp\nls` is not. */
function isLineEnd(code: string, at: number, language: CodeLanguage): boolean {
  if (language !== 'shell') return true;
  const next = code.slice(at + 2);
  return /^[^\s\\]/.test(next) && !(code[at - 1] === '/' && next.startsWith('/'));
}

const beginsComment = (code: string, at: number, language: CodeLanguage): boolean =>
  language === 'nodejs'
    ? code.startsWith('//', at)
    : code[at] === '#' && (language === 'python' || at === 0 || /[\s;&|]/.test(code[at - 1] ?? ''));

/** A comment that mentions \n puts space before it; a comment that should end there has a word before it. */
const endsInComment = (comment: string): boolean => /[\w.!?:;,)\]](?<!\b[A-Za-z]:)\\n/.test(comment);

/** The end of the string or expression that begins here; null: none begins; `open`: it never ends. */
function literalEnd(code: string, at: number, language: CodeLanguage): number | 'open' | null {
  const quote = quoteAt(code, at, language);
  if (quote !== null) {
    const isPlain = language === 'shell' && quote === "'";
    for (let end = at + quote.length; end < code.length; end++) {
      if (code[end] === '\\' && !isPlain) end += 1;
      else if (code.startsWith(quote, end)) return end + quote.length;
    }
    return 'open';
  }
  if (language !== 'nodejs' || code[at] !== '/') return null;
  if (!code.startsWith('/*', at)) return expressionEnd(code, at);
  const end = code.indexOf('*/', at + 2);
  return end < 0 ? 'open' : end + 2;
}

function quoteAt(code: string, at: number, language: CodeLanguage): string | null {
  const character = code[at] ?? '';
  if (character === '`') return language === 'nodejs' ? character : null;
  if (character !== '"' && character !== "'") return null;
  const triple = character.repeat(3);
  return language === 'python' && code.startsWith(triple, at) ? triple : character;
}

/** How many characters to look ahead, so that the cost stays linear in the code's length. */
const NEAR = 50;
const LONGEST_EXPRESSION = 1_000;

/** The end of a JavaScript regular expression; null if the slash divides or begins a comment. */
function expressionEnd(code: string, at: number): number | null {
  const before = code.slice(Math.max(0, at - NEAR), at).trimEnd();
  if (before !== '' && !/(?:[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of))$/.test(before))
    return null;
  const [expression] =
    /^\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//.exec(code.slice(at, at + LONGEST_EXPRESSION)) ??
    [];
  return expression === undefined ? null : at + expression.length;
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', '"': '"', '\\': '\\' };
const WRITTEN: Record<string, string> = { '\n': '\\n', '\t': '\\t' };

/**
 * Unescapes as JSON would. But in a string that may not span lines, \n and \t stay: there they were escaped once.
 */
function unescapeOnce(code: string, language: CodeLanguage): string {
  const parts = [...code.matchAll(/\\[nt"\\]|[^]/g)].map(([part]) =>
    part.length === 2 ? (ESCAPES[part[1] ?? ''] ?? part) : part,
  );
  const text = parts.join('');
  if (language === 'shell') return text;
  // Where one literal does not end, no later one that begins alike does: it is not looked for again.
  const open = new Set<string>();
  for (let at = 0; at < text.length;) {
    const quote = quoteAt(text, at, language);
    const begin = quote ?? text.slice(at, at + 2);
    const end = open.has(begin) ? 'open' : literalEnd(text, at, language);
    if (end === 'open') open.add(begin);
    if (typeof end === 'number') {
      const isInLine = quote === '"' || quote === "'";
      for (let inner = at; isInLine && inner < end; inner++)
        parts[inner] = WRITTEN[parts[inner] ?? ''] ?? parts[inner] ?? '';
      at = end;
    } else if (beginsComment(text, at, language)) {
      const lineEnd = text.indexOf('\n', at);
      at = lineEnd < 0 ? text.length : lineEnd;
    } else at += 1;
  }
  return parts.join('');
}
