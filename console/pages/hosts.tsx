// Machines that have connected.
import type { VNode } from 'preact';
import type { Listed } from '../api/call-api';
import type { HostState } from '../../contracts/schemas/remote-hosts';
import { useLoaded } from '../api/load';
import { ExactLine } from '../text/exact-text';
import { Empty, ProblemNote, Since, State } from '../parts/notes';

const EVERY_MS = 5_000;

/** The names of those whose state is not known. */
interface Unanswered {
  unanswered: string[];
}

export function HostsPage(): VNode {
  const { value, problem } = useLoaded<Listed<HostState> & Unanswered>('/v1/hosts', EVERY_MS);
  const hosts = value.value?.items;
  const silent = value.value?.unanswered ?? [];
  return (
    <>
      <h1>Hosts</h1>
      <ProblemNote problem={problem.value} />
      {silent.length > 0 && <p class="problem">These hosts do not answer: {silent.join(', ')}.</p>}
      {hosts?.length === 0 && silent.length === 0 && (
        <Empty>
          <h2>No other machine has connected</h2>
          <p>
            Agents use the gateway’s own. To offer another, run <code>holdfast host</code> there.
          </p>
        </Empty>
      )}
      {hosts && hosts.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-label="Hosts">
          <table>
            <thead>
              <tr>
                <th scope="col">Host</th>
                <th scope="col">State</th>
                <th scope="col">Since</th>
                <th scope="col">Access</th>
                <th scope="col">Sandbox</th>
                <th scope="col">Folder</th>
                <th scope="col">Release</th>
              </tr>
            </thead>
            <tbody>
              {hosts.map(({ host, status, since, reason, facts }) => (
                <tr key={host}>
                  <th scope="row">{host}</th>
                  <td>
                    <State state={status} /> <ExactLine text={reason ?? ''} />
                  </td>
                  <td>
                    <Since at={since} />
                  </td>
                  <td>{facts?.access ?? '–'}</td>
                  <td>{facts ? <ExactLine text={facts.sandbox ?? 'none'} /> : '–'}</td>
                  <td>{facts ? <ExactLine text={facts.root} /> : '–'}</td>
                  <td>{facts ? <ExactLine text={facts.version} /> : '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
