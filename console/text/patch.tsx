// A patch, file by file. Signs, not colours alone, say what is added and removed.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { ExactText } from './exact-text';
import type { FilePatch, PatchLine } from './read-patch';

const SIGNS: Record<PatchLine['kind'], string> = { added: '+', removed: '-', same: ' ', place: ' ' };
const SHOWN_LINES = 400;

export const Patch = ({ files }: { files: readonly FilePatch[] }): VNode => (
  <>
    {files.map((file, index) => (
      <OneFile key={index} file={file} />
    ))}
  </>
);

function OneFile({ file: { what, path, to, lines } }: { file: FilePatch }): VNode {
  const isWhole = useSignal(lines.length <= SHOWN_LINES);
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
      {lines.length > 0 && (
        <pre class="code patch" tabIndex={0} role="region" aria-label={`Changes of ${path}`}>
          {(isWhole.value ? lines : lines.slice(0, SHOWN_LINES)).map((line, index) => (
            <Line key={index} line={line} />
          ))}
        </pre>
      )}
      {!isWhole.value && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {lines.length} lines
        </button>
      )}
    </section>
  );
}

function Line({ line: { kind, text } }: { line: PatchLine }): VNode {
  const Tag = kind === 'added' ? 'ins' : kind === 'removed' ? 'del' : 'span';
  return (
    <Tag class={`line ${kind}`}>
      <span class="sign">{SIGNS[kind]}</span>
      <ExactText text={text} />
      {'\n'}
    </Tag>
  );
}
