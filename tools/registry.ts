// The registry of tools: what models and scripts may call. A built-in tool is one file and one line here; custom tools
// are passed in where the parts are composed; tools of sources come and go.
import { setTimeout as delay } from 'node:timers/promises';
import type { ToolCall, ToolResult } from '../contracts/agents/agent';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { failedCall } from '../contracts/tools/failed-call';
import { sessionFacts, type SessionFacts } from '../contracts/sessions/session-facts';
import type { OfferedTool } from '../contracts/tools/offered-tools';
import type { JsonValue, ToolDescription, ToolOutcome } from '../contracts/tools/tools';
import { applyWorkspaceTool } from './agents/apply-workspace-tool';
import { listAgentsTool } from './agents/list-agents-tool';
import { sendMessageTool } from './agents/send-message-tool';
import { createSpawnAgentTool } from './agents/spawn-agent-tool';
import { stopAgentTool } from './agents/stop-agent-tool';
import { waitForAgentsTool } from './agents/wait-for-agents-tool';
import { applyPatchTool } from './files/apply-patch-tool';
import { codeExecutionRemoteTool } from './sessions/code-execution-remote-tool';
import { codeExecutionTool } from './sessions/code-execution-tool';
import { checkTool } from './check-tool';
import { connectToolsTool } from './sessions/connect-tools-tool';
import { execCommandTool } from './sessions/exec-command-tool';
import { createExecutePythonCodeTool } from './sessions/execute-python-code-tool';
import { describe } from './describe-tool';
import { createFetchTool } from './fetch/fetch-tool';
import { grepFilesTool } from './files/grep-files-tool';
import { inputTool } from './sessions/input-tool';
import { functionName, Namesakes } from './stubs/function-names';
import { listDirTool } from './files/list-dir-tool';
import { readFileTool } from './files/read-file-tool';
import { afterAttempts, allowedFor, checkArgs, checkedJson, runTool, textOf } from './tool-attempt';
import { shellTool } from './programs/shell-tool';
import type { Tool, ToolContext, ToolSource } from './tool';
import { viewImageTool } from './files/view-image-tool';
import { waitTool } from './sessions/wait-tool';
import { writeFileTool } from './files/write-file-tool';
import { writeStdinTool } from './sessions/write-stdin-tool';

const BUILT_IN: readonly Tool[] = [
  codeExecutionTool,
  codeExecutionRemoteTool,
  inputTool,
  waitTool,
  shellTool,
  readFileTool,
  viewImageTool,
  writeFileTool,
  listDirTool,
  grepFilesTool,
  applyPatchTool,
];
const AGENTS: readonly Tool[] = [
  waitForAgentsTool,
  sendMessageTool,
  listAgentsTool,
  stopAgentTool,
  applyWorkspaceTool,
];
const UNIFIED_EXEC: readonly Tool[] = [execCommandTool, writeStdinTool, connectToolsTool];

export interface BuiltInOptions {
  /** Whether exec_command, write_stdin and connect_tools are offered. Default true. */
  unifiedExec?: boolean | undefined;
  /** Private names, addresses and networks that fetch may access. Default: none. */
  fetchPrivate?: readonly string[] | undefined;
  /** Folder with the role files of sub-agents. Default: roles are only names. */
  roles?: string | undefined;
  /** Whether the model reads the output and input of interactive scripts. Default false. */
  interactiveTranscript?: boolean | undefined;
}

const builtIn = ({
  unifiedExec = true,
  fetchPrivate,
  roles,
  interactiveTranscript,
}: BuiltInOptions): Tool[] => [
  ...BUILT_IN,
  createExecutePythonCodeTool({ interactiveTranscript }),
  createFetchTool({ allowPrivate: fetchPrivate }),
  createSpawnAgentTool(roles),
  ...AGENTS,
  ...(unifiedExec ? UNIFIED_EXEC : []),
];

/** Longer than a server of a usual size takes to start. */
const SETTLING_MS = 10_000;

/** A tool as models and scripts see it, and where it came from. */
export interface ToolRegistry {
  describe(): readonly ToolDescription[];
  /** For scripts on hosts without agents: the tools that run anywhere, without the built-in ones, which every host has. */
  offered(): OfferedTool[];
  /**
   * Resolves when each source has tried once to get its tools, or after a few seconds. Until then a worker that has just
   * started does not know them: it would say that they do not exist.
   */
  settled(): Promise<void>;
  /** The tool with this name. Throws `unknown_tool`. */
  find(name: string): Tool;
  /**
   * The arguments as the tool expects them. Throws `invalid_input` with a JSON pointer for each fault, and `tool_failed`
   * if the tool's schema throws.
   */
  check(tool: Tool, args: unknown): Promise<unknown>;
  /**
   * Runs a call. Errors that the caller can fix, and unknown outcomes, are returned as outcomes. Throws errors that are
   * worth another attempt with the same key.
   */
  invoke(call: ToolCall, context: ToolContext): Promise<ToolOutcome>;
  /** Like `invoke`, as the text that a model reads; `wantsValue`: with the result itself. */
  call(call: ToolCall, context: ToolContext, wantsValue?: boolean): Promise<ToolResult>;
  /** Tools of sources that were left out, each with the reason. */
  faults(): string[];
  /** Calls `listener` when the tools change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** The built-in tools, custom tools and those of sources. Throws `tool_invalid` and `tool_name_taken`. */
export const createToolRegistry = (
  own: readonly Tool[] = [],
  sources: readonly ToolSource[] = [],
  options: BuiltInOptions = {},
): ToolRegistry => new Registry(own, sources, builtIn(options));

class Registry implements ToolRegistry {
  private readonly fixed = new Map<string, Tool>();
  private table: Table;
  private readonly listeners = new Set<() => void>();
  private settling: Promise<void> | undefined;

  constructor(
    own: readonly Tool[],
    private readonly sources: readonly ToolSource[],
    private readonly everywhere: readonly Tool[],
  ) {
    const names = new Namesakes<Tool>();
    for (const tool of [...everywhere, ...own]) add(this.fixed, names, tool);
    this.table = withSources(this.fixed, sources);
    for (const source of sources)
      source.onChange(() => {
        this.table = withSources(this.fixed, sources);
        for (const listener of [...this.listeners]) listener();
      });
  }

  describe(): ToolDescription[] {
    return (this.table.described ??= [...this.table.tools.values()].map(describe));
  }

  settled(): Promise<void> {
    return (this.settling ??= settledWithin(this.sources));
  }

  offered(): ReturnType<ToolRegistry['offered']> {
    return this.describe().flatMap(({ runsOn, ...described }) => {
      const tool = this.find(described.name);
      if (runsOn === 'host' || this.everywhere.includes(tool)) return [];
      return [{ ...described, timeoutMs: tool.timeoutMs, secret: tool.secret }];
    });
  }

  find(name: string, allowed?: readonly string[]): Tool {
    const tool = this.table.tools.get(name);
    if (tool) return tool;
    const names = [...this.table.tools.keys()].filter((one) => allowed?.includes(one) ?? true);
    const guess = names.find((one) => plainName(one) === plainName(name));
    throw new HoldfastError('unknown_tool', {
      got: name,
      allowed: names.join(', ') || 'none',
      ...(guess !== undefined && { guess }),
    });
  }

  check(tool: Tool, args: unknown): Promise<unknown> {
    return checkArgs(tool, args);
  }

  invoke({ tool: name, args }: ToolCall, context: ToolContext): Promise<ToolOutcome> {
    return settle<ToolOutcome>(
      async () => {
        const tool = this.toRun(name, context);
        const shown = tool.result ? checkedJson : (value: JsonValue): string => textOf(tool, value);
        return { ok: true, value: await runTool(tool, args, context, shown) };
      },
      (err) => err.toOutcome(),
    );
  }

  call(
    { callId, tool: name, args }: ToolCall,
    context: ToolContext,
    wantsValue = false,
  ): Promise<ToolResult> {
    return settle<ToolResult>(
      async () => {
        const tool = this.toRun(name, context);
        let session: SessionFacts | undefined;
        const watched: ToolContext = { ...context, sawSession: (view) => (session = sessionFacts(view)) };
        const { content, value } = await runTool(tool, args, watched, (result) => ({
          content: textOf(tool, result),
          value: tool.result ? checkedJson(result) : textOf(tool, result),
        }));
        const facts = { ...(session && { session }), ...(wantsValue && { value }) };
        return { callId, tool: name, content, isError: false, ...facts };
      },
      (err) => failedCall({ callId, tool: name }, err),
    );
  }

  faults(): string[] {
    return this.table.faults;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** A tool that is missing now was perhaps there for an earlier attempt, which was cut off. */
  private toRun(name: string, context: ToolContext): Tool {
    try {
      return this.find(name, allowedFor(context));
    } catch (err) {
      throw err instanceof HoldfastError ? afterAttempts(context.attempt, name, err) : err;
    }
  }
}

async function settle<T>(work: () => Promise<T>, failed: (err: HoldfastError) => T): Promise<T> {
  try {
    return await work();
  } catch (err) {
    if (!(err instanceof HoldfastError)) throw err;
    return failed(err);
  }
}

/** A source that hangs must not hold up what needs none of its tools. */
async function settledWithin(sources: readonly ToolSource[]): Promise<void> {
  const over = new AbortController();
  const limit = delay(SETTLING_MS, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
  await Promise.race([limit, Promise.allSettled(sources.map(async (source) => source.settled?.()))]);
  over.abort();
}

interface Table {
  tools: Map<string, Tool>;
  faults: string[];
  /** Built on demand and kept: each model call needs it, and schemas are slow. */
  described?: ToolDescription[];
}

/** A name that is taken, or that sources give twice, is left out of all sources: it would be ambiguous. */
function withSources(fixed: ReadonlyMap<string, Tool>, sources: readonly ToolSource[]): Table {
  const offered = sources.flatMap((source) => source.tools());
  const tools = new Map(fixed);
  const names = new Namesakes(fixed.values());
  const twins = new Namesakes(offered);
  const faults = sources.flatMap((source) => source.faults?.() ?? []);
  for (const tool of offered) {
    const twin = twins.of(tool);
    try {
      if (twin) throw new HoldfastError('tool_name_taken', { got: tool.name, before: twin.name });
      add(tools, names, tool);
    } catch (err) {
      faults.push(reasonOf(err));
    }
  }
  return { tools, faults };
}

function add(tools: Map<string, Tool>, names: Namesakes<Tool>, tool: Tool): void {
  checkTool(tool);
  // The same one may be given twice.
  const namesake = names.of({ name: tool.name });
  if (namesake) throw new HoldfastError('tool_name_taken', { got: tool.name, before: namesake.name });
  names.add(tool);
  tools.set(tool.name, tool);
}

/** Without the prefix that models add to names of tools, such as `functions.` or `default_api:`. */
const plainName = (name: string): string => functionName(name.replace(/^.*[.:/]/, ''));
