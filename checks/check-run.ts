// One check of one piece of code: its findings, its remaining budget, and how nested code is followed.
import { RUNS_REMOTE, type Findings, type Language, type Place, type Placing } from './findings';
import { UNKNOWN, isRemote, unquoted } from './text';
import { timeLimit } from '../system/time-limit';
import type { Scope } from './bash/scope';

/** Levels of code in code. */
const MAX_DEPTH = 6;
const MAX_NESTED = 200;
/** Function calls: real scripts make far more, through all their branches; each body is followed once in any case. */
const MAX_CALLS = 200;
/** Processor time of one check, without parsing Python. */
const CHECK_MS = 4_000;

/** Thrown when a check has used up its budget: findings so far count. */
export class TooMuch extends Error {
  override readonly name = 'TooMuch';
}

/** Python inside another language: parsed in another process, after the rest. */
export interface EmbeddedPython {
  code: string;
  placing: Placing;
  depth: number;
}

export interface NestedCode {
  language: Language;
  /** With marks. */
  text: string;
  /** Where it comes from. */
  place: Place;
  depth: number;
  /** For bash that shares the variables of its caller. */
  scope?: Scope | undefined;
  stdin?: string | undefined;
}

/** Follows code, and returns its output. */
export type Runner = (check: Check, code: string, placing: Placing, nested: NestedCode) => string;

export class Check {
  readonly embedded: EmbeddedPython[] = [];
  private nestings = 0;
  readonly isOver = timeLimit(CHECK_MS);
  private steps = 0;
  private calls = 0;

  constructor(
    readonly findings: Findings,
    private readonly runners: Record<Exclude<Language, 'python'>, Runner>,
  ) {}

  /** Throws `TooMuch` when the budget is used up. */
  spend(): void {
    if (++this.steps % 64 === 0 && this.isOver()) throw new TooMuch('it is too much to follow');
  }

  /** Whether one more call of a function is followed with its arguments. */
  mayCall(): boolean {
    return ++this.calls <= MAX_CALLS;
  }

  /** Follows code that is passed to another interpreter. */
  nested(nested: NestedCode): string {
    const { language, place, depth } = nested;
    const code = unquoted(nested.text);
    if (/^[\s\uE000-\uE006]*$/.test(code)) {
      if (isRemote(code)) this.findings.add('remote_code', place, RUNS_REMOTE);
      return UNKNOWN;
    }
    if (depth >= MAX_DEPTH || ++this.nestings > MAX_NESTED) {
      this.findings.skip('code in code is nested too deeply');
      return UNKNOWN;
    }
    const inner = this.findings.placing(code, place);
    if (language !== 'python')
      return this.runners[language](this, code, inner, { ...nested, depth: depth + 1 });
    this.embedded.push({ code, placing: inner, depth: depth + 1 });
    return UNKNOWN;
  }
}
