// The process of one call in a sandbox: reads the call as JSON from its input, prints the answer, and exits.
import { text } from 'node:stream/consumers';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { imageFacts } from '../../contracts/tools/image-header';
import type { ImageFacts } from '../../contracts/tools/images';
import type { JsonValue } from '../../contracts/tools/tools';
import { applyPatchTool } from '../files/apply-patch-tool';
import { grepFilesTool } from '../files/grep-files-tool';
import { listDirTool } from '../files/list-dir-tool';
import { readFileTool } from '../files/read-file-tool';
import type { Tool, ToolContext } from '../tool';
import { viewImageTool } from '../files/view-image-tool';
import { writeFileTool } from '../files/write-file-tool';
import type { ConfinedAnswer, ConfinedCall } from './confined-call';

const TOOLS: readonly Tool[] = [
  readFileTool,
  viewImageTool,
  writeFileTool,
  listDirTool,
  grepFilesTool,
  applyPatchTool,
];

async function main(): Promise<void> {
  const {
    tool: name,
    args,
    cwd,
    askedAt,
    wantsImages,
  } = JSON.parse(await text(process.stdin)) as ConfinedCall;
  const tool = TOOLS.find((one) => one.name === name);
  const env = Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const images: string[] = [];
  const addImage = (data: Uint8Array): ImageFacts => {
    images.push(Buffer.from(data).toString('base64'));
    return imageFacts(data);
  };
  // The only parts that a file tool uses.
  const context: Partial<ToolContext> = {
    signal: new AbortController().signal,
    host: { name: 'sandbox', cwd, env },
    askedAt,
    ...(wantsImages && { addImage }),
  };
  const answer = await answerOf(async () => {
    if (!tool)
      throw new HoldfastError('internal', { reason: `${name} is not a tool that runs in a sandbox` });
    return tool.run(args, context as ToolContext);
  });
  process.stdout.write(JSON.stringify('value' in answer ? { ...answer, images } : answer));
}

async function answerOf(work: () => Promise<JsonValue>): Promise<ConfinedAnswer> {
  try {
    return { value: await work() };
  } catch (err) {
    if (err instanceof HoldfastError) return { error: { code: err.code, facts: err.facts } };
    return { thrown: reasonOf(err) };
  }
}

void main();
