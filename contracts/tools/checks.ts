// Results of the static checks of code. Pure data; the rules' names are keys of the policy.

/** Each rule, and what it finds. */
export const CHECK_RULES = {
  placeholder: 'a placeholder that was never filled in, such as [YOUR_API_KEY]',
  destructive: 'destroys the system, a disk or a home folder, or stops the machine',
  remote_code: 'runs code that comes from the network, or gives the network a shell',
  exfiltration: 'sends keys, passwords or the environment over the network',
} as const;
export type CheckRule = keyof typeof CHECK_RULES;

export interface Verdict {
  rule: CheckRule;
  /** Of the submitted code. A finding in code for another interpreter is reported at its place in this code. */
  language: 'bash' | 'python' | 'javascript';
  /** Counted from 1. */
  line: number;
  /** Counted from 1, in UTF-16 units. */
  column: number;
  /** The text there: at most 120 characters, no control characters. */
  found: string;
  reason: string;
}

export interface CheckReport {
  /** Ordered by place. */
  verdicts: Verdict[];
  /** Why a part could not be parsed, and was therefore not checked; null if everything was checked. */
  unparsed: string | null;
}
