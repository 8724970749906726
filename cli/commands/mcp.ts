// `holdfast mcp`: an MCP server over standard input and output, for the program that starts it.
import { once } from 'node:events';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import type { CliContext } from '../open-context';
import { escapeActive } from '../../contracts/text/inert';
import { writingBy } from '../terminal/guarded-output';
import { mcpServer } from '../mcp/serve-client';
import { action, examples, type Define } from '../define-command';

export const define: Define = (command) =>
  command
    .addHelpText('after', examples('claude mcp add holdfast -- npx holdfast mcp   for example'))
    .action(action(mcp));

const WAITS = { start: true, staysOnFullDisk: true, answersOthers: true };

/** Serves until its input ends; programs keep running. Standard output carries only the protocol. */
async function mcp(options: GlobalOptions): Promise<number> {
  let opening: Promise<CliContext> | undefined;
  // A server that is unavailable now may be there for the next call.
  const open = (): Promise<CliContext> =>
    (opening ??= openContext(options, WAITS).catch((err: unknown) => {
      opening = undefined;
      throw err;
    }));
  const server = await mcpServer(open);
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const ended = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close'), stopped()]);
  await server.connect(new StdioServerTransport(process.stdin, writingBy(process.stdout, visibleLines)));
  // The client's first call finds it started; that call reports any error.
  open().catch(() => undefined);
  await ended;
  await server.close();
  await opening?.then((context) => context[Symbol.asyncDispose]()).catch(() => undefined);
  return 0;
}

/** The same JSON, inert. */
const visibleLines = (lines: string): boolean => process.stdout.write(escapeActive(lines));

const stopped = (): Promise<unknown> =>
  Promise.race((['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => once(process, signal)));
