// Replies of scripted models.

/** In the tagged dialect. */
export const toolBlock = (calls: readonly { id?: string; tool: string; args: object }[]): string =>
  `<tool>\n${JSON.stringify(calls.map(({ id, tool, args }) => ({ call_id: id, tool_name: tool, arguments: args })))}\n</tool>`;

/** In the agent JSON dialect: one `true` in session 0. */
export const runTrue = JSON.stringify({
  thoughts: [],
  headline: 'step',
  tool_name: 'code_execution_tool',
  tool_args: { runtime: 'terminal', session: 0, code: 'true' },
});
