// Expressions as ripgrep reads them, for JavaScript's engine: so both searches find the same. What JavaScript has beyond
// that, such as look-ahead, stays. Syntax: https://docs.rs/regex/latest/regex/#syntax. Pure.
import { classAt } from './expression-class';
import { escapeAt, literal, UnsupportedError, type Piece } from './expression-escapes';

/** Source for the flag `v`. Throws UnsupportedError with a reason. */
export function toJavaScript(pattern: string): string {
  return new Translation(pattern).run();
}

/** Flags that hold from here to the end of a group. "u" is always on, as are "m" and "s", which make no difference within one line. */
interface Flags {
  i: boolean;
}

class Translation {
  private at = 0;
  private out = '';
  private flags: Flags = { i: false };
  /** One for each open group: the flags to return to. */
  private readonly open: Flags[] = [];

  constructor(private readonly pattern: string) {}

  run(): string {
    this.enter();
    while (this.at < this.pattern.length) this.step();
    if (this.open.length > 0) throw new UnsupportedError('a group is not closed');
    return `${this.out})`;
  }

  /** A part to which one set of flags applies, as a group of its own: a flag in the middle of a group ends it. */
  private enter(): void {
    this.out += this.flags.i ? '(?i:' : '(?-i:';
  }

  private step(): void {
    const { pattern } = this;
    const character = String.fromCodePoint(pattern.codePointAt(this.at) ?? 0);
    switch (character) {
      case '\\':
        return this.put(escapeAt(pattern, this.at));
      case '[':
        return this.put(classAt(pattern, this.at));
      case '(':
        return this.group();
      case ')':
        return this.close();
      case '|':
        // Flags that were set before it hold behind it as well.
        this.out += ')|';
        this.at += 1;
        return this.enter();
      case '{':
        return this.repetition();
      case '.':
        return this.put({ source: '[^\\n]', end: this.at + 1 });
      case '^':
      case '$':
      case '*':
      case '+':
      case '?':
        return this.put({ source: character, end: this.at + 1 });
      default:
        this.put({ source: literal(character), end: this.at + character.length });
    }
  }

  private put({ source, end }: Piece): void {
    this.out += source;
    this.at = end;
  }

  /** ripgrep refuses a brace that counts nothing, and people write `fn main() {`: it stands for itself. */
  private repetition(): void {
    const [count] = /^\{\d+(,\d*)?\}/.exec(this.pattern.slice(this.at)) ?? [];
    this.put({ source: count ?? '\\{', end: this.at + (count ?? '{').length });
  }

  private group(): void {
    const rest = this.pattern.slice(this.at);
    const [assertion] = /^\(\?<?[=!]/.exec(rest) ?? [];
    const named = /^\(\?P?<([A-Za-z_]\w*)>/.exec(rest);
    const flags = /^\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])/.exec(rest);
    const outer = { ...this.flags };
    if (flags) {
      const [all, on = '', off = '', end] = flags;
      this.at += all.length;
      if (end === ')') return this.change(on, off);
      this.open.push(outer);
      this.flags = flagsAfter(this.flags, on, off);
      this.out += '(?:';
    } else {
      const prefix = assertion ?? named?.[0] ?? '(';
      if (prefix === '(' && rest.startsWith('(?'))
        throw new UnsupportedError(`${rest.slice(0, 4)}… is unknown`);
      this.at += prefix.length;
      this.open.push(outer);
      this.out += named ? `(?<${named[1]}>` : prefix;
    }
    this.enter();
  }

  private change(on: string, off: string): void {
    if (on === '' && off === '') throw new UnsupportedError('(?) sets nothing');
    this.flags = flagsAfter(this.flags, on, off);
    this.out += ')';
    this.enter();
  }

  private close(): void {
    const outer = this.open.pop();
    if (!outer) throw new UnsupportedError('a group is closed that was not opened');
    this.flags = outer;
    this.out += '))';
    this.at += 1;
  }
}

function flagsAfter(flags: Flags, on: string, off: string): Flags {
  for (const flag of on + off)
    if (!'imsu'.includes(flag) || ('mu'.includes(flag) && off.includes(flag)))
      throw new UnsupportedError(`the flag ${flag} is not supported without ripgrep`);
  return { i: off.includes('i') ? false : on.includes('i') || flags.i };
}
