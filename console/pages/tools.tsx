// The tools of models and scripts, MCP servers, and what is wrong with them.
import type { VNode } from 'preact';
import type { RegistryRecord } from '../../contracts/tools/registry-record';
import { useLoaded } from '../api/load';
import { ExactText } from '../text/exact-text';
import { Empty, ProblemNote, State } from '../parts/notes';
import { howMany } from '../text/how-many';

const EVERY_MS = 10_000;

export function ToolsPage(): VNode {
  const { value, problem } = useLoaded<RegistryRecord>('/v1/tools', EVERY_MS);
  const registry = value.value;
  return (
    <>
      <h1>Tools</h1>
      <ProblemNote problem={problem.value} />
      {registry?.faults.map((fault) => (
        <p key={fault} class="problem">
          <ExactText text={fault} />
        </p>
      ))}
      {registry && registry.servers.length > 0 && (
        <>
          <h2>MCP servers</h2>
          <ul class="plain-list">
            {registry.servers.map(({ name, state, tools, fault }) => (
              <li key={name}>
                <State state={state} /> <strong>{name}</strong> {howMany(tools, 'tool')}{' '}
                <ExactText text={fault ?? ''} />
              </li>
            ))}
          </ul>
        </>
      )}
      {registry?.tools.length === 0 && (
        <Empty>
          <h2>No tools</h2>
          <p>
            Start the worker with <code>holdfast up</code>; its tools appear here.
          </p>
        </Empty>
      )}
      {registry?.tools.map(({ name, description, effects, runsOn, parameters }) => (
        <details key={name} class="folded">
          <summary>
            <code>{name}</code>{' '}
            <span class="first-line">
              <ExactText text={description.split('\n', 1)[0] ?? ''} />
            </span>
            <span class="quiet">
              {effects.replace('_', ' ')}, {runsOn === 'host' ? 'on the host' : 'anywhere'}
            </span>
          </summary>
          <p class="plain-text">
            <ExactText text={description} />
          </p>
          <pre class="code" tabIndex={0} role="region" aria-label={`Arguments of ${name}`}>
            <ExactText text={JSON.stringify(parameters, null, 2)} />
          </pre>
        </details>
      ))}
    </>
  );
}
