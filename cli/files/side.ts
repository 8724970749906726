// The two sides of `holdfast cp`: a path of this machine, or one of an agent.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { checkedId } from '../../contracts/ids';
import type { Name } from '../../exec/transfer/transfer-messages';
import { localPath, pathOf } from '../../exec/transfer/names';

export interface AgentSide {
  agent: string;
  /** Null: the agent's. */
  host: string | null;
  path: Name;
}
/** `-`: standard input or output. */
export type LocalSide = { path: Name } | '-';

const OF_AGENT = /^(?:([^/:]+)\/)?([^/:.][^/:]*):(.*)$/s;

/** `AGENT:PATH` or `HOST/AGENT:PATH`; undefined for a path of this machine, as `./a:b` is. */
export function agentSide(text: string): AgentSide | undefined {
  const [, host, agent, path] = OF_AGENT.exec(text) ?? [];
  if (agent === undefined || path === undefined) return undefined;
  return {
    agent: checkedId('agent', agent),
    host: host === undefined ? null : checkedId('host', host),
    path: pathOf(path),
  };
}

/** Absolute; a final slash stays. */
export function localSide(text: string, cwd: string): LocalSide {
  if (text === '-') return '-';
  if (text === '' || text.includes('\0'))
    throw new HoldfastError('invalid_input', {
      what: 'The path',
      got: JSON.stringify(text),
      allowed: 'a path',
    });
  return { path: localPath(text, cwd) };
}

export type Copy =
  { way: 'in'; from: LocalSide; to: AgentSide } | { way: 'out'; from: AgentSide; to: LocalSide };

/** Throws `invalid_input` unless exactly one side is an agent's. */
export function copyOf(from: string, to: string, cwd: string): Copy {
  const source = agentSide(from);
  const target = agentSide(to);
  if (source && !target) return { way: 'out', from: source, to: localSide(to, cwd) };
  if (target && !source) return { way: 'in', from: localSide(from, cwd), to: target };
  throw new HoldfastError('invalid_input', {
    what: 'The pair of paths',
    got: source ? 'two of agents' : 'two of this machine',
    allowed: 'one of this machine and one AGENT:PATH',
    next: source
      ? 'Copy it to this machine first, then to the other agent.'
      : 'Name the agent: `holdfast cp PATH AGENT:PATH`, or `holdfast cp AGENT:PATH PATH`.',
  });
}
