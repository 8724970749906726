// Tokens and dollars.
import type { VNode } from 'preact';
import type { UsageLine, UsageReport } from '../../contracts/gateway/api';
import { useLoaded } from '../api/load';
import { DayPlots } from '../parts/days/day-plots';
import { Empty, money, ProblemNote } from '../parts/notes';
import { ExactText } from '../text/exact-text';

const EVERY_MS = 30_000;

export function UsagePage(): VNode {
  const { value, problem } = useLoaded<UsageReport>('/v1/usage', EVERY_MS);
  const report = value.value;
  const unanswered = report?.unanswered ?? [];
  const isEmpty =
    report !== null && unanswered.length === 0 && report.total.inputTokens + report.total.outputTokens === 0;
  return (
    <>
      <h1>Usage</h1>
      <ProblemNote problem={problem.value} />
      {unanswered.length > 0 && (
        <p class="problem" role="status">
          The sums are too small. No answer now from <ExactText text={shown(unanswered)} />.{' '}
          <span class="next">Is its worker running?</span>
        </p>
      )}
      {isEmpty && (
        <Empty>
          <h2>Nothing used yet</h2>
          <p>Tokens and dollars appear here when a model reports them. Scripted models report none.</p>
        </Empty>
      )}
      {report && !isEmpty && (
        <>
          <Lines title="In all" lines={[{ key: 'all agents', ...report.total }]} />
          <DayPlots byDay={report.byDay} />
          <Lines title="By day" lines={report.byDay} />
          <Lines title="By model" lines={report.byModel} />
          <Lines title="By agent with its sub-agents" lines={report.byTree} />
        </>
      )}
    </>
  );
}

const SHOWN = 5;

const shown = (ids: readonly string[]): string =>
  ids.slice(0, SHOWN).join(', ') + (ids.length > SHOWN ? ', …' : '');

const tokens = (line: UsageLine): number => line.inputTokens + line.outputTokens;

function Lines({ title, lines }: { title: string; lines: UsageLine[] }): VNode {
  const most = Math.max(1, ...lines.map(tokens));
  return (
    <section>
      <h2>{title}</h2>
      <div class="wide" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">Of</th>
              <th scope="col">Tokens</th>
              <th scope="col">Read</th>
              <th scope="col">From cache</th>
              <th scope="col">Written</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.key}>
                <th scope="row">{line.key}</th>
                <td>
                  <progress value={tokens(line)} max={most} aria-label={`Tokens of ${line.key}`} />
                </td>
                <td class="number">{line.inputTokens.toLocaleString()}</td>
                <td class="number">{line.cachedTokens.toLocaleString()}</td>
                <td class="number">{line.outputTokens.toLocaleString()}</td>
                <td class="number">{money(line.costUsd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
