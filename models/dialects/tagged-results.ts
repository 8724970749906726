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
  let mark = '===';
  while (contents.some((content) => content.startsWith(`${mark} `) || content.includes(`\n${mark} `)))
    mark += '=';
  return mark;
}
