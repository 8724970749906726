// One check of one piece of code: what it found, what it may still spend, and how code in code is followed.
import type { Findings, Language, Place, Placing } from './findings';
import { UNKNOWN, isRemote, unquoted } from './text';
import type { Scope } from './bash/scope';

/** Code in code in code. */
const MAX_DEPTH = 6;
const MAX_NESTED = 200;
/** Of functions: real scripts make far more, through all their branches; each body is followed once in any case. */
const MAX_CALLS = 200;
/** For one check, without the parsing of Python. */
const CHECK_MS = 4_000;

/** Thrown where a check has cost enough: what was found so far counts. */
export class TooMuch extends Error {
  override readonly name = 'TooMuch';
}

/** Where nested code comes from. `exact` is the offset of its first character, where it stands there unchanged. */
export interface Site {
  place: Place;
  exact: Place['start'] | null;
}

/** Python that another language holds: parsed outside, after the rest. */
export interface EmbeddedPython {
  code: string;
  placing: Placing;
  depth: number;
}

export interface NestedCode {
  language: Language;
  /** With marks. */
  text: string;
  site: Site;
  placing: Placing;
  depth: number;
  /** For bash that shares the variables of what runs it. */
  scope?: Scope | undefined;
  stdin?: string | undefined;
}

/** Follows code, and returns what it prints. */
export type Runner = (check: Check, code: string, placing: Placing, nested: NestedCode) => string;

export class Check {
  readonly embedded: EmbeddedPython[] = [];
  private nestings = 0;
  readonly until = Date.now() + CHECK_MS;
  private steps = 0;
  private calls = 0;

  constructor(
    readonly findings: Findings,
    private readonly runners: Record<Exclude<Language, 'python'>, Runner>,
  ) {}

  /** Throws `TooMuch` where there is nothing left. */
  spend(): void {
    if (++this.steps % 64 === 0 && Date.now() > this.until) throw new TooMuch('it is too much to follow');
  }

  /** Whether one more call of a function is followed with its arguments. */
  mayCall(): boolean {
    return ++this.calls <= MAX_CALLS;
  }

  /** Follows what another interpreter is given. */
  nested(nested: NestedCode): string {
    const { language, site, depth, placing } = nested;
    const code = unquoted(nested.text);
    if (/^[\s\uE000-\uE006]*$/.test(code)) {
      if (isRemote(code)) this.findings.add('remote_code', site.place, 'it runs what the network sent');
      return UNKNOWN;
    }
    if (depth >= MAX_DEPTH || ++this.nestings > MAX_NESTED) {
      this.findings.skip('code in code is nested too deep');
      return UNKNOWN;
    }
    const { exact } = site;
    const inner: Placing =
      exact === null ? () => site.place : (start, end) => placing(exact + start, exact + end);
    if (language !== 'python')
      return this.runners[language](this, code, inner, { ...nested, depth: depth + 1 });
    this.embedded.push({ code, placing: inner, depth: depth + 1 });
    return UNKNOWN;
  }
}
