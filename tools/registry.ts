// The registry of tools: what models and scripts may call. A built-in tool is one file and one line here; one's own
// are handed in where the parts are composed; those of sources come and go.
import * as z from 'zod/mini';
import type { ToolCall, ToolResult } from '../contracts/agent';
import { HoldfastError, reasonOf } from '../contracts/errors';
import { failedCall } from '../contracts/failed-call';
import { parseWith } from '../contracts/schemas/parse';
import { EFFECTS, type JsonValue, type ToolDescription, type ToolOutcome } from '../contracts/tools';
import { listAgentsTool } from './agents/list-agents-tool';
import { sendMessageTool } from './agents/send-message-tool';
import { createSpawnAgentTool } from './agents/spawn-agent-tool';
import { stopAgentTool } from './agents/stop-agent-tool';
import { waitForAgentsTool } from './agents/wait-for-agents-tool';
import { applyPatchTool } from './apply-patch-tool';
import { codeExecutionRemoteTool } from './code-execution-remote-tool';
import { codeExecutionTool } from './code-execution-tool';
import { runConfined } from './confined/run-confined';
import { connectToolsTool } from './connect-tools-tool';
import { execCommandTool } from './exec-command-tool';
import { createExecutePythonCodeTool } from './execute-python-code-tool';
import { createFetchTool } from './fetch-tool';
import { grepFilesTool } from './grep-files-tool';
import { inputTool } from './input-tool';
import { isSameFunction } from './stubs/function-names';
import { listDirTool } from './list-dir-tool';
import { readFileTool } from './read-file-tool';
import { shellTool } from './shell-tool';
import type { Tool, ToolContext, ToolSource } from './tool';
import { waitTool } from './wait-tool';
import { writeFileTool } from './write-file-tool';
import { writeStdinTool } from './write-stdin-tool';

const BUILT_IN: readonly Tool[] = [
  codeExecutionTool,
  codeExecutionRemoteTool,
  inputTool,
  waitTool,
  shellTool,
  readFileTool,
  writeFileTool,
  listDirTool,
  grepFilesTool,
  applyPatchTool,
];
const AGENTS: readonly Tool[] = [waitForAgentsTool, sendMessageTool, listAgentsTool, stopAgentTool];
const UNIFIED_EXEC: readonly Tool[] = [execCommandTool, writeStdinTool, connectToolsTool];

export interface BuiltInOptions {
  /** Whether exec_command, write_stdin and connect_tools are offered. Default true. */
  unifiedExec?: boolean | undefined;
  /** Private names, addresses and networks that fetch may ask. Default: none. */
  fetchPrivate?: readonly string[] | undefined;
  /** Folder of the files of sub-agents' roles. Default: roles are names and nothing else. */
  roles?: string | undefined;
  /** Whether the model reads what people see and type in interactive scripts. Default false. */
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

const NAME_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/;
/** A tool that throws is run so often; then its caller is told what it threw. */
const MAX_ATTEMPTS = 5;
/** Of Node: a longer one ends at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A tool as models and scripts see it, and where it came from. */
export interface ToolRegistry {
  describe(): readonly ToolDescription[];
  /** The tool of this name. Throws `unknown_tool`. */
  find(name: string): Tool;
  /** The arguments as the tool takes them. Throws `invalid_input` with a JSON pointer for each fault. */
  check(tool: Tool, args: unknown): unknown;
  /**
   * Runs a call. What its caller can mend, and an outcome that is unknown, is an outcome. Throws what is worth
   * another attempt under the same key.
   */
  invoke(call: ToolCall, context: ToolContext): Promise<ToolOutcome>;
  /** As `invoke`, in the text that a model reads; `wantsValue`: with the result itself. */
  call(call: ToolCall, context: ToolContext, wantsValue?: boolean): Promise<ToolResult>;
  /** Tools of sources that are left out, each with the reason. */
  faults(): string[];
  /** Calls `listener` when the tools have changed, until the function that it returns is called. */
  onChange(listener: () => void): () => void;
}

/** The built-in tools, one's own and those of sources. Throws `tool_invalid` and `tool_name_taken`. */
export function createToolRegistry(
  own: readonly Tool[] = [],
  sources: readonly ToolSource[] = [],
  options: BuiltInOptions = {},
): ToolRegistry {
  const fixed = new Map<string, Tool>();
  for (const tool of [...builtIn(options), ...own]) add(fixed, tool);
  let table = withSources(fixed, sources);
  const listeners = new Set<() => void>();
  for (const source of sources)
    source.onChange(() => {
      table = withSources(fixed, sources);
      for (const listener of [...listeners]) listener();
    });
  const find = (name: string): Tool => {
    const tool = table.tools.get(name);
    if (!tool)
      throw new HoldfastError('unknown_tool', { got: name, allowed: [...table.tools.keys()].join(', ') });
    return tool;
  };
  const settle = async <T>(work: () => Promise<T>, failed: (err: HoldfastError) => T): Promise<T> => {
    try {
      return await work();
    } catch (err) {
      if (!(err instanceof HoldfastError)) throw err;
      return failed(err);
    }
  };
  return {
    describe: () => (table.described ??= [...table.tools.values()].map(describe)),
    find,
    check: checkArgs,
    invoke: ({ tool, args }, context) =>
      settle<ToolOutcome>(
        async () => {
          const found = find(tool);
          const shown = found.result ? asJson : (value: JsonValue): string => textOf(found, value);
          return { ok: true, value: await runTool(found, args, context, shown) };
        },
        (err) => err.toOutcome(),
      ),
    call: ({ callId, tool: name, args }, context, wantsValue = false) =>
      settle<ToolResult>(
        async () => {
          const tool = find(name);
          const { content, value } = await runTool(tool, args, context, (result) => ({
            content: textOf(tool, result),
            value: tool.result ? asJson(result) : textOf(tool, result),
          }));
          return { callId, tool: name, content, isError: false, ...(wantsValue && { value }) };
        },
        (err) => failedCall({ callId, tool: name }, err),
      ),
    faults: () => table.faults,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

interface Table {
  tools: Map<string, Tool>;
  faults: string[];
  /** Made when it is asked for: each call of a model wants it, and schemas take their time. */
  described?: ToolDescription[];
}

/** A name that a source gives twice, or that is taken, is offered by nobody: which one was meant is not known. */
function withSources(fixed: ReadonlyMap<string, Tool>, sources: readonly ToolSource[]): Table {
  const offered = sources.flatMap((source) => source.tools());
  const tools = new Map(fixed);
  const faults: string[] = [];
  for (const tool of offered) {
    const twin = offered.find((other) => other !== tool && isSameFunction(other.name, tool.name));
    try {
      if (twin) throw new HoldfastError('tool_name_taken', { got: tool.name, before: twin.name });
      add(tools, tool);
    } catch (err) {
      faults.push(reasonOf(err));
    }
  }
  return { tools, faults };
}

function add(tools: Map<string, Tool>, tool: Tool): void {
  checkTool(tool);
  const namesake = [...tools.keys()].find((name) => isSameFunction(name, tool.name));
  if (namesake !== undefined)
    throw new HoldfastError('tool_name_taken', { got: tool.name, before: namesake });
  tools.set(tool.name, tool);
}

function describe({ name, description, args, parameters, result, effects, runsOn }: Tool): ToolDescription {
  // As they are to be written: what has a default may be left out.
  const schema = parameters ?? z.toJSONSchema(args, { unrepresentable: 'any', io: 'input' });
  const resultSchema = result && ('jsonSchema' in result ? result.jsonSchema : z.toJSONSchema(result));
  return {
    name,
    description,
    parameters: schema,
    result: resultSchema ?? null,
    effects,
    runsOn: runsOn ?? 'anywhere',
  };
}

function textOf(tool: Tool, value: JsonValue): string {
  if (tool.text) return tool.text(value);
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** One attempt. Throws when the tool's time is up; a tool that does not heed its signal is waited for no longer. */
async function inTime(tool: Tool, args: unknown, context: ToolContext): Promise<JsonValue> {
  const { timeoutMs } = tool;
  if (timeoutMs === undefined || timeoutMs > LONGEST_TIMER_MS) return runWhereItBelongs(tool, args, context);
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const err = new Error(`its time of ${timeoutMs} ms was up`);
      reject(err);
      over.abort(err);
    }, timeoutMs);
  });
  const signal = AbortSignal.any([context.signal, over.signal]);
  try {
    return await Promise.race([tool.run(args, { ...context, signal }), timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

function runWhereItBelongs(tool: Tool, args: unknown, context: ToolContext): Promise<JsonValue> {
  const { host, signal } = context;
  const confine = tool.usesFiles ? host?.confine : undefined;
  if (!host || !confine) return tool.run(args, context);
  return runConfined({ tool: tool.name, args, cwd: host.cwd }, { ...host, confine }, signal);
}

/** Throws for what is no JSON: that is a fault of its tool, and not of whoever writes it down later. */
function asJson(value: JsonValue): JsonValue {
  JSON.stringify(value);
  return value;
}

/** Own tools come from modules that no compiler may have seen. */
function checkTool(tool: Partial<Tool> | undefined): void {
  const allowed: Record<string, boolean> = {
    'name: 1 to 64 of a-z, A-Z, 0-9, "_" and "-"':
      typeof tool?.name === 'string' && NAME_PATTERN.test(tool.name),
    'description: a text': typeof tool?.description === 'string' && tool.description.trim() !== '',
    'args: a schema of zod 4': typeof tool?.args === 'object' && '_zod' in tool.args,
    [`effects: ${EFFECTS.join(', ')}`]: (EFFECTS as readonly unknown[]).includes(tool?.effects),
    'runsOn: host or anywhere': ['host', 'anywhere', undefined].includes(tool?.runsOn),
    'run: a function': typeof tool?.run === 'function',
  };
  const faults = Object.keys(allowed).filter((what) => !allowed[what]);
  if (faults.length > 0)
    throw new HoldfastError('tool_invalid', { got: String(tool?.name), allowed: faults.join('; ') });
}

const checkArgs = (tool: Tool, args: unknown): unknown =>
  parseWith(tool.args, `The call of ${tool.name}`, args, tool.secret);

async function runTool<T extends JsonValue>(
  tool: Tool,
  args: Record<string, unknown>,
  context: ToolContext,
  shown: (value: JsonValue) => T,
): Promise<T> {
  const { name, effects } = tool;
  const allowed = context.caller ? context.caller.allowed : context.settings.tools;
  if (allowed && !allowed.includes(name))
    throw new HoldfastError('tool_not_allowed', { got: name, allowed: allowed.join(', ') || 'none' });
  context.host?.admit?.(name, effects);
  const parsed = checkArgs(tool, args);
  const unknown = (reason: string): HoldfastError =>
    new HoldfastError('unknown_outcome', { what: `the call of ${name}`, reason });
  if (effects === 'once' && context.attempt > 1)
    throw unknown('the worker was lost while it was at it, and it is not to run twice');
  try {
    return shown(await inTime(tool, parsed, context));
  } catch (err) {
    if (err instanceof HoldfastError || context.signal.aborted) throw err;
    if (effects === 'once') throw unknown(reasonOf(err));
    if (context.attempt < MAX_ATTEMPTS) throw err;
    throw new HoldfastError('tool_failed', { tool: name, attempts: context.attempt, reason: reasonOf(err) });
  }
}
