// Collects the findings of a check, with their places in the given code.
import type { CheckRule, Verdict } from '../contracts/tools/checks';
import { UNKNOWN } from './text';

const EXCERPT = 120;
/** Per rule: nobody needs to know of more, but findings of one rule must not hide another's. */
const MAX_VERDICTS = 25;
const MAX_UNPARSED = 5;

export type Language = Verdict['language'];

/** A range of the given code, as offsets. */
export interface Place {
  start: number;
  end: number;
}

/** Maps a range of nested code to the given code. */
export type Placing = (start: number, end: number) => Place;

export class Findings {
  private readonly found = new Map<string, Verdict & { start: number }>();
  private readonly counts = new Map<CheckRule, number>();
  private readonly reasons = new Set<string>();
  private readonly lines: number[] = [0];

  constructor(
    private readonly language: Language,
    private readonly code: string,
  ) {
    for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) this.lines.push(at + 1);
  }

  add(rule: CheckRule, { start, end }: Place, reason: string): void {
    const key = `${rule} ${start}`;
    const count = this.counts.get(rule) ?? 0;
    if (this.found.has(key) || count >= MAX_VERDICTS) return;
    this.counts.set(rule, count + 1);
    const line = this.lineOf(start);
    const column = start - (this.lines[line - 1] ?? 0) + 1;
    const found = excerpt(this.code.slice(start, Math.min(end, start + 1_024)));
    this.found.set(key, { rule, language: this.language, line, column, found, reason, start });
  }

  /** Records why something was not checked. */
  skip(reason: string): void {
    if (this.reasons.size < MAX_UNPARSED) this.reasons.add(excerpt(reason));
  }

  lineOf(offset: number): number {
    let [low, high] = [0, this.lines.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.lines[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  get verdicts(): Verdict[] {
    return [...this.found.values()]
      .sort((a, b) => a.start - b.start)
      .map(({ rule, language, line, column, found, reason }) => ({
        rule,
        language,
        line,
        column,
        found,
        reason,
      }));
  }

  get unparsed(): string | null {
    return this.reasons.size > 0 ? [...this.reasons].join('; ') : null;
  }
}

/** One line without control and format characters, shortened. */
export function excerpt(text: string): string {
  const line = text
    .replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(UNKNOWN, '?')
    .trim();
  return line.length <= EXCERPT ? line : `${sliceWell(line, EXCERPT - 1)}…`;
}

/** Does not split a surrogate pair. */
const sliceWell = (text: string, length: number): string =>
  text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
