// What the static checks of code say. Pure data; the rules' names are keys of the policy.

/** Each rule, and what it finds. */
export const CHECK_RULES = {
  placeholder: 'a gap that was left to be filled in, such as [YOUR_API_KEY]',
  destructive: 'destroys the system, a disk, somebody’s home, or stops the machine',
  remote_code: 'runs code that comes from the network, or gives the network a shell',
  exfiltration: 'sends keys, passwords or the environment over the network',
} as const;
export type CheckRule = keyof typeof CHECK_RULES;

export interface Verdict {
  rule: CheckRule;
  /** Of the code that was given; what it hands to another interpreter is told where it stands in it. */
  language: 'bash' | 'python' | 'javascript';
  /** Counted from 1. */
  line: number;
  /** Counted from 1, in UTF-16 units. */
  column: number;
  /** What stands there: at most 120 characters and no control characters. */
  found: string;
  reason: string;
}

export interface CheckReport {
  /** In the order of their places. */
  verdicts: Verdict[];
  /** Why a part could not be parsed, and was therefore not checked; null where all was. */
  unparsed: string | null;
}
