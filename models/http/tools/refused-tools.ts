// Asks without a tool that the server does not take. Vendors refuse a whole request for one tool, in words that name it or its
// place; each has undocumented rules.
import type { ToolDescription } from '../../../contracts/tools/tools';
import { beginningOf } from '../../../contracts/text/well-formed';

const AT = [/function_?declarations\[(\d+)\]/i, /\btools(?:\.|\[)(\d+)/];
const IS_ABOUT_TOOLS = /tool|function|schema/i;
const IS_ABOUT_MESSAGES = /\bmessages?(?:\.|\[)\d|\binput\[\d|tool_calls|tool_use_id/i;
const MAX_REFUSED = 16;
const SHOWN_CHARS = 300;

/** The reason why the server takes no tool with these parameters; the same map for all calls of a process. */
export type RefusedTools = Map<ToolDescription['parameters'], string>;

export interface AskedWith<T> {
  tools: readonly ToolDescription[];
  refused: RefusedTools;
  /** The server's words without the settings' secrets. */
  redacted: (text: string) => string;
  /** @param offered the tools that were offered, in their order, by the names of `tools` */
  ask: (
    refused: RefusedTools,
    offering: (offered: readonly Pick<ToolDescription, 'name'>[]) => void,
  ) => Promise<T>;
}

/** Throws what the last attempt throws. What was refused is kept only if the request was accepted without it. */
export async function askWithout<T>({ tools, refused, redacted, ask }: AskedWith<T>): Promise<T> {
  const suspected: RefusedTools = new Map(refused);
  for (;;) {
    let offered: readonly Pick<ToolDescription, 'name'>[] = [];
    try {
      const reply = await ask(suspected, (list) => (offered = list));
      for (const [parameters, reason] of suspected) refused.set(parameters, reason);
      return reply;
    } catch (err) {
      const name = blamed(err, offered);
      const tool = tools.find((one) => one.name === name);
      if (!tool || suspected.has(tool.parameters) || suspected.size >= refused.size + MAX_REFUSED) throw err;
      suspected.set(tool.parameters, beginningOf(redacted((err as Error).message), SHOWN_CHARS));
    }
  }
}

/** The tool that a refusal names. */
function blamed(err: unknown, offered: readonly Pick<ToolDescription, 'name'>[]): string | undefined {
  if (!(err instanceof Error) || !('status' in err) || ![400, 422].includes(Number(err.status)))
    return undefined;
  const { message } = err;
  if (!IS_ABOUT_TOOLS.test(message) || IS_ABOUT_MESSAGES.test(message)) return undefined;
  const named = offered.filter(({ name }) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(message));
  if (named.length === 1) return named[0]?.name;
  for (const pattern of AT) {
    const [, at] = pattern.exec(message) ?? [];
    if (at !== undefined) return offered[Number(at)]?.name;
  }
  return undefined;
}
