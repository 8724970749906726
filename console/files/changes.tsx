// Changed files with their lines, each folded to a line once there are many. All of it is foreign text.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { FileChange } from '../../contracts/workspaces/checkpoints';
import type { Comparison } from '../../contracts/workspaces/requests-to-hosts';
import { exactLine, ExactLine } from '../text/exact-text';
import { PatchLines, SHOWN_LINES } from '../text/patch';
import { readDiff, type DiffOfPath } from '../text/read-diff';
import { changedIn, countsText } from '../../contracts/workspaces/change-texts';
import { linesText } from './change-words';
import { howMany } from '../text/how-many';

const SHOWN_FILES = 100;

interface Shown {
  change: FileChange;
  /** Undefined: no lines of it came. */
  diff: DiffOfPath | undefined;
  isOpen: boolean;
}

export function Changes({ of: { changes, text, isCut }, step }: { of: Comparison; step: number }): VNode {
  const files = useMemo(() => withLines(changes.paths, readDiff(text ?? '')), [changes, text]);
  const isWhole = useSignal(false);
  const shown = isWhole.value ? files : files.slice(0, SHOWN_FILES);
  return (
    <>
      {shown.map((file) => (
        <OneFile key={file.change.path} file={file} isCut={isCut} step={step} />
      ))}
      {shown.length < files.length && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {files.length} files
        </button>
      )}
      {changes.omitted > 0 && <p class="quiet">Not listed: {howMany(changes.omitted, 'more file')}.</p>}
      {isCut && <p class="quiet">The diff is too long: its end is missing.</p>}
      {changedIn(changes.counts) === 0 && <p class="quiet">{countsText(changes.counts)}</p>}
    </>
  );
}

/** The first files are open, as long as they have few lines together. */
function withLines(paths: readonly FileChange[], diffs: ReadonlyMap<string, DiffOfPath>): Shown[] {
  let lines = 0;
  return paths.map((change) => {
    const diff = diffs.get(change.path);
    lines += diff?.lines.length ?? 0;
    return { change, diff, isOpen: lines <= SHOWN_LINES };
  });
}

interface OneFileProps {
  file: Shown;
  isCut: boolean;
  step: number;
}

function OneFile({ file: { change, diff, isOpen }, isCut, step }: OneFileProps): VNode {
  const isRead = useSignal(isOpen);
  return (
    <details
      class="folded file"
      open={isOpen}
      onToggle={(event) => (isRead.value = isRead.value || event.currentTarget.open)}
    >
      <summary>
        <ChangedPath change={change} />
      </summary>
      {isRead.value && (
        <Lines diff={diff} isCut={isCut} label={`Changes of ${exactLine(change.path)} in step ${step}`} />
      )}
    </details>
  );
}

/** A path, what became of it, and how many lines. */
export const ChangedPath = ({ change }: { change: FileChange }): VNode => (
  <>
    <span class={`kind ${change.kind}`}>{change.kind}</span>{' '}
    <bdi class="path">
      <ExactLine text={change.path} />
    </bdi>{' '}
    <span class="quiet">{linesText(change)}</span>
  </>
);

interface LinesProps {
  diff: DiffOfPath | undefined;
  isCut: boolean;
  label: string;
}

function Lines({ diff, isCut, label }: LinesProps): VNode {
  if (!diff) return <p class="quiet">{isCut ? 'Its lines are not here: the diff is too long.' : 'Empty.'}</p>;
  return (
    <>
      {diff.notes.map((note) => (
        <p key={note} class="quiet">
          {note}
        </p>
      ))}
      {diff.lines.length > 0 && <PatchLines lines={diff.lines} label={label} />}
      {diff.isCut && <p class="quiet">The rest of its lines is not here: the diff is too long.</p>}
    </>
  );
}
