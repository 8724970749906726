// One call of a tool, folded to a line, with its result.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { ToolCall, ToolResult } from '../../../contracts/agents/agent';
import { Code } from '../../text/code';
import { languageOf } from '../../text/code-language';
import { exactLine, ExactLine, ExactText } from '../../text/exact-text';
import { commandLine, fateOf } from './call-words';
import { Images } from './images';
import { bytes } from '../notes';
import { Patch } from '../../text/patch';
import { readPatch, writtenFile, type FilePatch } from '../../text/read-patch';
import { beginningOf } from '../../../contracts/text/well-formed';

const RESULT_CHARS = 4_000;
/** More than a line shows: all of it is in the unfolded call. */
const SUMMARY_CHARS = 300;

export function Call({ call, result }: { call: ToolCall; result: ToolResult | undefined }): VNode {
  const patch = patchOf(call);
  const values = Object.entries(call.args)
    .filter(([name]) => name !== patch?.instead)
    .map(([name, value]) => ({
      name,
      ...(typeof value === 'string'
        ? { text: value, language: languageOf({ runs: call.tool, name, runtime: call.args.runtime }) }
        : commandLine(value) !== undefined
          ? { text: commandLine(value) ?? '', language: 'bash' }
          : { text: JSON.stringify(value, null, 2), language: 'json' }),
    }));
  const size = result ? bytes(new TextEncoder().encode(result.content).length) : '';
  const fate = fateOf(call, result, size);
  // Its longest text argument is its code.
  const main = values.reduce((best, one) => (one.text.length > best.length ? one.text : best), '');
  const paths = patch?.files.map(({ path }) => path).join(', ');
  const firstLine = patch?.instead === undefined ? (main.split('\n', 1)[0] ?? '') : null;
  const first = [firstLine, paths]
    .map((text) => text && beginningOf(text, SUMMARY_CHARS))
    .filter(Boolean)
    .join(' · ');
  return (
    <>
      <details class={`folded call${fate.isBad ? ' failed' : ''}`}>
        <summary>
          <code>
            <ExactLine text={call.tool} />
          </code>{' '}
          <span class="first-line">
            <ExactText text={first} />
          </span>
          <span class={fate.isBad ? 'fate bad' : 'fate'} title={size}>
            <ExactLine text={fate.text} />
          </span>
        </summary>
        {values.map(({ name, text, language }) => (
          <section key={name}>
            <p class="name">
              <ExactLine text={name} />
            </p>
            <Code text={text} language={language} label={exactLine(`${name} of ${call.tool}`)} />
          </section>
        ))}
        {patch && <Patch files={patch.files} />}
        {call.denied && (
          <p class="problem">
            <ExactText text={call.denied} />
          </p>
        )}
        {result && <Result result={result} />}
      </details>
      {result?.images && <Images images={result.images} of={call.tool} />}
    </>
  );
}

interface ShownPatch {
  files: FilePatch[];
  /** The argument that it says all of. One that a shell runs may hold more than its patch. */
  instead?: string;
}

/** The argument that is or has a patch, or the content of a file that is written. */
function patchOf({ tool, args }: ToolCall): ShownPatch | null {
  const { file_path: path, content } = args;
  if (typeof path === 'string' && typeof content === 'string')
    return { files: [writtenFile(path, content)], instead: 'content' };
  for (const [name, value] of Object.entries(args)) {
    const files = typeof value === 'string' ? readPatch(value) : null;
    if (files) return { files, ...(tool === 'apply_patch' && { instead: name }) };
  }
  return null;
}

function Result({ result }: { result: ToolResult }): VNode {
  const { content, tool } = result;
  const isWhole = useSignal(content.length <= RESULT_CHARS);
  return (
    <section>
      <p class="name">result</p>
      <pre class="screen" tabIndex={0} role="region" aria-label={exactLine(`Result of ${tool}`)}>
        <ExactText text={isWhole.value ? content : beginningOf(content, RESULT_CHARS)} />
      </pre>
      {!isWhole.value && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {bytes(content.length)}
        </button>
      )}
    </section>
  );
}
