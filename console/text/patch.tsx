// A patch, file by file. Signs, not colours alone, say what is added and removed.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { ExactText } from './exact-text';
import type { FilePatch, PatchLine } from './read-patch';
import { beginningOf } from '../../contracts/text/well-formed';

const SIGNS: Record<PatchLine['kind'], string> = { added: '+', removed: '-', same: ' ', place: ' ' };
export const SHOWN_LINES = 400;
/** Only the beginning of a longer line is shown at first. */
const SHOWN_CHARS = 2_000;

export const Patch = ({ files }: { files: readonly FilePatch[] }): VNode => (
  <>
    {files.map((file, index) => (
      <OneFile key={index} file={file} />
    ))}
  </>
);

function OneFile({ file: { what, path, to, lines } }: { file: FilePatch }): VNode {
  const count = (kind: PatchLine['kind']): number => lines.filter((line) => line.kind === kind).length;
  return (
    <section class="file-patch">
      <p class="name">
        {what} <ExactText text={path} />
        {to !== undefined && (
          <>
            {' to '}
            <ExactText text={to} />
          </>
        )}{' '}
        <span class="quiet">
          +{count('added')} -{count('removed')}
        </span>
      </p>
      {lines.length > 0 && <PatchLines lines={lines} label={`Changes of ${path}`} />}
    </section>
  );
}

/** What is long is cut, and a button shows the rest. */
export function PatchLines({ lines, label }: { lines: readonly PatchLine[]; label: string }): VNode {
  const isWhole = useSignal(false);
  const isLong = lines.length > SHOWN_LINES || lines.some(({ text }) => text.length > SHOWN_CHARS);
  const shown = isWhole.value ? lines : lines.slice(0, SHOWN_LINES);
  return (
    <>
      <pre class="code patch" tabIndex={0} role="region" aria-label={label}>
        {shown.map((line, index) => (
          <Line key={index} line={line} isWhole={isWhole.value} />
        ))}
      </pre>
      {isLong && !isWhole.value && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {lines.length} lines
        </button>
      )}
    </>
  );
}

function Line({ line: { kind, text }, isWhole }: { line: PatchLine; isWhole: boolean }): VNode {
  const Tag = kind === 'added' ? 'ins' : kind === 'removed' ? 'del' : 'span';
  return (
    <Tag class={`line ${kind}`}>
      <span class="sign">{SIGNS[kind]}</span>
      <ExactText text={isWhole ? text : beginningOf(text, SHOWN_CHARS)} />
      {!isWhole && text.length > SHOWN_CHARS && (
        <span class="quiet"> … {text.length - SHOWN_CHARS} characters more</span>
      )}
      {'\n'}
    </Tag>
  );
}
