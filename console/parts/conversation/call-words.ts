// A call of a tool in a line: what it ran, and how that ended. Pure.
import type { ToolCall, ToolResult } from '../../../contracts/agents/agent';

export interface Fate {
  text: string;
  /** To be seen at a glance. What a person or the policy has refused is no failure. */
  isBad: boolean;
}

const good = (text: string): Fate => ({ text, isBad: false });
const bad = (text: string): Fate => ({ text, isBad: true });

/** @param size of a result that says nothing else */
export function fateOf({ denied }: ToolCall, result: ToolResult | undefined, size: string): Fate {
  if (denied !== undefined) return good('denied by the policy');
  if (!result) return good('running');
  const refused = result.isError ? refusalOf(result.content) : undefined;
  if (refused !== undefined) return good(refused);
  return endOf(result) ?? (result.isError ? bad('failed') : good(size));
}

/** As errors of the catalogue begin. */
function refusalOf(content: string): string | undefined {
  const [, code] = /^Error (\w+): /.exec(content) ?? [];
  if (code === 'approval_expired') return 'denied: nobody answered in time';
  if (code === 'policy_denied') return 'denied by the policy';
  if (code !== 'approval_denied') return undefined;
  const [, by] = /^Error approval_denied: It was not approved by ([^:\n]{1,80}): /.exec(content) ?? [];
  return by === undefined ? 'denied' : `denied by ${by}`;
}

/** Of a command in a shell, or of a program; undefined for any other call. */
function endOf({ tool, session, content }: ToolResult): Fate | undefined {
  const [, code] = (tool === 'shell' && /^Exit code: (\d{1,3})\n/.exec(content)) || [];
  if (code !== undefined) return exitOf(Number(code), null);
  switch (session?.state) {
    case 'running':
      return good('still running');
    case 'waiting_input':
      return good('waits for input');
    case 'lost':
      return bad('lost');
    case 'exited': {
      const { exitCode, signal, killedBy, commandId } = session;
      if (commandId === null) return undefined;
      if (killedBy && killedBy.by !== 'signal') return bad(`ended by ${killedBy.by.replace('_', ' ')}`);
      return exitCode === null || exitCode === undefined
        ? bad(signal ? `signal ${signal}` : 'no exit code')
        : exitOf(exitCode, signal ?? null);
    }
    case undefined:
      return undefined;
  }
}

const exitOf = (code: number, signal: string | null): Fate =>
  code === 0 ? good('exit 0') : bad(`exit ${code}${signal ? `, ${signal}` : ''}`);

const PLAIN = /^[\w@%+=:,./-]+$/;
/** As a person would type it. */
const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** A program with its arguments; of `bash -c SCRIPT`, the script. Undefined for another value. */
export function commandLine(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  if (!value.every((word): word is string => typeof word === 'string')) return undefined;
  const [program = '', flag = '', script] = value;
  const isScript = /(?:^|\/)(?:ba|z|da)?sh$/.test(program) && /^-l?c$/.test(flag) && value.length === 3;
  return isScript && script !== undefined ? script : value.map(quoted).join(' ');
}
