// Collects the findings of a check, with their places in the given code.
import type { CheckRule, Verdict } from '../contracts/tools/checks';
import { beginningOf, shortened } from '../contracts/text/well-formed';
import { UNKNOWN } from './text';

const EXCERPT = 120;
/** Per rule: more are of no use, but findings of one rule must not hide another's. */
const MAX_VERDICTS = 25;
const MAX_UNPARSED = 5;

export const RUNS_REMOTE = 'it runs what the network sent';
export const GIVES_SHELL = 'it gives the network a shell';
export const SENDS_SECRETS = 'it sends keys, passwords or the environment over the network';

export type Language = Verdict['language'];

/** A range of the given code, as offsets. */
export interface Place {
  start: number;
  end: number;
}

/** Maps a range of nested code to the given code. */
export type Placing = (start: number, end: number) => Place;

export class Findings {
  private readonly found = new Map<string, { start: number; verdict: Verdict }>();
  private readonly counts = new Map<CheckRule, number>();
  private readonly reasons = new Set<string>();
  private replacedTexts: Set<string | undefined> | undefined;

  constructor(
    private readonly language: Language,
    private readonly code: string,
  ) {}

  add(rule: CheckRule, { start, end }: Place, reason: string): void {
    const key = `${rule} ${start}`;
    const count = this.counts.get(rule) ?? 0;
    if (this.found.has(key) || count >= MAX_VERDICTS) return;
    this.counts.set(rule, count + 1);
    const line = this.lineOf(start);
    const column = start - this.code.lastIndexOf('\n', start - 1);
    const found = excerpt(beginningOf(this.code.slice(start, end), 1_024));
    const verdict = { rule, language: this.language, line, column, found, reason };
    this.found.set(key, { start, verdict });
  }

  /** For nested code: exact if its place contains it unchanged, up to line ends that a shell adds. */
  placing(nested: string, place: Place): Placing {
    const at = this.code.slice(place.start, place.end).indexOf(nested.replace(/\n$/, ''));
    const from = place.start + at;
    return at === -1 ? () => place : (start, end) => ({ start: from + start, end: from + end });
  }

  /** Records why something was not checked. */
  skip(reason: string): void {
    if (this.reasons.size < MAX_UNPARSED) this.reasons.add(excerpt(reason));
  }

  /** Texts that the code replaces itself, as in `text.replace("[NAME]", name)`. */
  get replaced(): ReadonlySet<string | undefined> {
    return (this.replacedTexts ??= new Set(
      [...this.code.matchAll(/\.replace(?:All)?\(\s*["'`]([^"'`\n]{1,100})["'`]/g)].map(([, text]) => text),
    ));
  }

  lineOf = (offset: number): number => this.code.slice(0, offset).split('\n').length;

  get verdicts(): Verdict[] {
    return [...this.found.values()].sort((a, b) => a.start - b.start).map(({ verdict }) => verdict);
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
  return line.length <= EXCERPT ? line : shortened(line, EXCERPT - 1);
}
