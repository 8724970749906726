// What a step did to files: a line that opens its diff, which is read when it is opened.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { Comparison } from '../../contracts/workspaces/requests-to-hosts';
import { ShownAgent } from '../api/agent-stream';
import { pathOf } from '../api/call-api';
import { useLoaded } from '../api/load';
import { ProblemNote } from '../parts/notes';
import { ExactLine } from '../text/exact-text';
import { Changes } from './changes';

interface StepFilesProps {
  step: number;
  text: string;
  hasDiff: boolean;
}

export function StepFiles({ step, text, hasDiff }: StepFilesProps): VNode {
  const isRead = useSignal(false);
  if (!hasDiff)
    return (
      <p class="message remark">
        <ExactLine text={text} />
      </p>
    );
  return (
    <details
      class="folded remark files"
      onToggle={(event) => (isRead.value = isRead.value || event.currentTarget.open)}
    >
      <summary>
        <ExactLine text={text} />
      </summary>
      {isRead.value && <StepDiff step={step} />}
    </details>
  );
}

function StepDiff({ step }: { step: number }): VNode {
  const agent = useContext(ShownAgent);
  const { value, problem, reload } = useLoaded<Comparison>(`${pathOf('agents', agent)}/diff?step=${step}`);
  if (value.value) return <Changes of={value.value} step={step} />;
  if (!problem.value)
    return (
      <p class="quiet" role="status">
        Reading what changed…
      </p>
    );
  return (
    <>
      <ProblemNote problem={problem.value} />
      <button type="button" onClick={reload}>
        Read it again
      </button>
    </>
  );
}
