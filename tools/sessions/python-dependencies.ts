// The packages that a Python script declares: in the bare comment at its top, or in a PEP 723 block.
import { parse, TomlError } from 'smol-toml';
import { withoutByteOrderMark } from '../../contracts/text/byte-order-mark';
import { HoldfastError } from '../../contracts/errors/holdfast-error';

/** The regular expression from PEP 723, for the type "script". */
const BLOCK = /^# \/\/\/ script$\s((?:^#(?:| .*)$\s)+)^# \/\/\/$/gm;
const BLOCK_START = /^# \/\/\/ script$/m;
const BARE = /^#\s*dependencies\s*=/;
/** A name and what PEP 508 allows after it, but never an installer option. */
const PACKAGE = /^[A-Za-z0-9][^\p{Cc}]*$/u;
const EXAMPLE = '# dependencies = ["requests", "numpy>=2"]';

/**
 * The code with its dependencies as a PEP 723 block. For a bare comment the block goes after the code, so that all
 * lines keep their numbers. The same in all releases: other code in a second attempt would run again. Throws `invalid_input` with the line of an invalid package list.
 */
export function withDependencies(given: string): string {
  const code = withoutByteOrderMark(given);
  const text = code.replaceAll('\r\n', '\n');
  const [block, second] = text.matchAll(BLOCK);
  if (second) throw refused(lineAt(text, second.index), 'a second block `# /// script`', 'one of them');
  if (block) {
    checkBlock(block[1] ?? '', lineAt(text, block.index));
    return code;
  }
  const start = BLOCK_START.exec(text);
  if (start) throw refused(lineAt(text, start.index), 'a block without an end', 'a last line `# ///`');
  const packages = bareDependencies(text.split('\n'));
  if (packages.length === 0) return code;
  return `${code}\n# /// script\n# dependencies = ${JSON.stringify(packages)}\n# ///\n`;
}

function checkBlock(content: string, line: number): void {
  const toml = content.replace(/^# ?/gm, '');
  let table: Record<string, unknown>;
  try {
    table = parse(toml);
  } catch (err) {
    throw noToml(err, line);
  }
  const { dependencies = [], 'requires-python': versions = '' } = table;
  checkPackages(dependencies, lineOf(toml, 'dependencies', line));
  if (typeof versions !== 'string')
    throw refused(lineOf(toml, 'requires-python', line), JSON.stringify(versions), 'a text such as ">=3.11"');
}

/** The dependencies in the comment lines before the first line of code. */
function bareDependencies(lines: readonly string[]): string[] {
  const end = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('#'));
  const top = end === -1 ? lines : lines.slice(0, end);
  const from = top.findIndex((line) => BARE.test(line));
  if (from === -1) return [];
  const comment = top.slice(from).map((line) => line.replace(/^#\s?/, ''));
  const { dependencies } = firstTable(comment, from + 1);
  return checkPackages(dependencies, from + 1);
}

/** The list may span several lines: it ends where it is complete. What follows is another comment. */
function firstTable(comment: readonly string[], line: number): Record<string, unknown> {
  let fault: unknown;
  for (let count = 1; count <= comment.length; count += 1) {
    try {
      return parse(comment.slice(0, count).join('\n'));
    } catch (err) {
      fault ??= err;
    }
    // A closed list that is still not TOML will not become valid.
    if (comment[count - 1]?.trimEnd().endsWith(']')) break;
  }
  throw noToml(fault, line - 1);
}

function checkPackages(value: unknown, line: number): string[] {
  const isPackage = (item: unknown): item is string => typeof item === 'string' && PACKAGE.test(item);
  if (Array.isArray(value) && value.every(isPackage)) return value;
  const wrong: unknown = Array.isArray(value) ? value.find((item) => !isPackage(item)) : value;
  throw refused(line, JSON.stringify(wrong), `a list of packages such as ${EXAMPLE}`);
}

/** @param before lines of the code before the TOML */
function noToml(err: unknown, before: number): unknown {
  if (!(err instanceof TomlError)) return err;
  const what = err.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? '';
  return refused(before + err.line, `invalid TOML (${what})`, `a list of packages such as ${EXAMPLE}`);
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;

const lineOf = (toml: string, key: string, before: number): number =>
  before + 1 + toml.split('\n').findIndex((line) => line.startsWith(key));

const refused = (line: number, got: string, allowed: string): HoldfastError =>
  new HoldfastError('invalid_input', { what: `Line ${line} of "code"`, got, allowed });
