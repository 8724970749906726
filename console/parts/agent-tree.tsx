// An agent with those below it, and what each has used.
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AgentTree } from '../../contracts/gateway/api';
import { pathOf } from '../api/call-api';
import { useLoaded } from '../api/load';
import { linkTo } from '../api/place';
import { ExactLine } from '../text/exact-text';
import { money, ProblemNote, Since, State } from './notes';

/** Read again when `version` changes. */
export function AgentTreeView({ id, version }: { id: string; version: string }): VNode {
  const { value, problem, reload } = useLoaded<AgentTree>(`${pathOf('agents', id)}/tree`);
  useEffect(reload, [version]);
  return (
    <section>
      <h2>Sub-agents</h2>
      <ProblemNote problem={problem.value} />
      {value.value && <Branch agents={value.value.agents} />}
    </section>
  );
}

const Branch = ({ agents }: { agents: AgentTree[] }): VNode => (
  <ul class="tree">
    {agents.map(({ agent, role, status, since, reason, usage, agents: below }) => (
      <li key={agent}>
        <State state={reason ?? status} />{' '}
        <a href={linkTo('agents', agent)}>
          <ExactLine text={role ?? agent} />
        </a>{' '}
        <span class="quiet">
          {since && <Since at={since} />} {usage && money(usage.costUsd)}
        </span>
        {below.length > 0 && <Branch agents={below} />}
      </li>
    ))}
  </ul>
);
