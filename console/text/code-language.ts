// Which language the code of a call is in. Pure.

interface CodePlace {
  /** The tool that it is for, or the runtime. */
  runs: string;
  /** The argument. */
  name: string;
  /** The argument `runtime` of the same call. */
  runtime?: unknown;
}

const OF_RUNTIME: Record<string, string> = {
  terminal: 'bash',
  nodejs: 'javascript',
  python: 'python',
  python_script: 'python',
  execute_python_code: 'python',
};
/** Arguments with a command line. */
const COMMAND_LINES = ['cmd', 'command'];

/** Null if it is not known. */
export function languageOf({ runs, name, runtime }: CodePlace): string | null {
  if (COMMAND_LINES.includes(name)) return 'bash';
  if (name !== 'code') return null;
  const of = typeof runtime === 'string' ? runtime : runs;
  return Object.hasOwn(OF_RUNTIME, of) ? (OF_RUNTIME[of] ?? null) : null;
}
