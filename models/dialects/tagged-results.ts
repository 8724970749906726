// The results of one step as one message, one section per call. Outputs are included verbatim: JSON would cost a sixth
// more tokens and be hard to read.
import type { ShownResult } from './steps';

export const RESULT_TITLE = 'TOOL_EXECUTION_RESULT';

export function taggedResults(results: readonly ShownResult[]): string {
  const mark = markFor(results.map(({ content }) => content));
  const sections = results.map(({ callId, tool, isError, content, note }) => {
    const head = `${mark} ${callId}: ${tool}, ${isError ? 'error' : 'ok'} ${mark}`;
    return [head, ...(note === undefined ? [] : [`Note: ${note}`]), content].join('\n');
  });
  return [RESULT_TITLE, ...sections.map((section) => section.replace(/\n$/, ''))].join('\n');
}

/** Enough equals signs that no line of an output begins like a section. */
function markFor(contents: readonly string[]): string {
  const taken = new Set<number>();
  for (const content of contents)
    for (const [, signs = ''] of content.matchAll(/^(={3,}) /gm)) taken.add(signs.length);
  let length = 3;
  while (taken.has(length)) length += 1;
  return '='.repeat(length);
}
