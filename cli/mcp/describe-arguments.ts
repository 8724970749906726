// What the arguments of the tools mean, for models. The schemas are those of all clients; their docstrings are for
// programmers.
import type { JsonSchema } from '../../contracts/json';

/** By the name of the argument, or, where that has several meanings, by its path. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  id: 'An id for this call. The same id again returns the recorded result and does nothing twice.',
  runtime:
    '"terminal" is a shell (the default); "python" and "nodejs" evaluate in one that keeps its variables; "python_script" runs a program with the packages that its PEP 723 block names.',
  code: 'The commands, or the program.',
  yield: 'When to answer before the command has ended, in milliseconds. The command keeps running.',
  'start_agent.yield': 'When the commands of the agent answer it before they have ended, in milliseconds.',
  firstOutputMs: 'Time without any output since the command began.',
  betweenOutputMs: 'Time without further output since the last.',
  maxMs: 'Total time.',
  promptMs: 'Time for which a program probably waits for input.',
  reader: 'A name of yours: the session remembers how far each name has read, and shows only what is new.',
  tools: 'Names of the tools that the agent and its scripts may call. Default: all.',
  'exec.tools': 'The tools of Holdfast that scripts in this command may call. Default: all.',
  allowed: 'Their names.',
  calls: 'How many calls in total. Default 10000.',
  within: 'Sessions whose scripts wait for this command, outermost first.',
  'exec.reset': 'First ends what runs in the session, then runs the code in a fresh shell.',
  checkImports: 'Runs nothing of a Python or Node script whose first imports are not installed.',
  agent: 'The agent. For sessions the default is "mcp", which owns those of MCP clients.',
  'start_agent.agent': 'An id for the new agent. Default: a new one.',
  host: 'The machine, by the name of its host. Default: this one.',
  session: 'The number of the session. Default: the one in the folder where this client was started.',
  cwd: 'The folder to work in. Default: the one where this client was started.',
  from: 'The byte offset to read from. Default: where the last command began.',
  'start_agent.from': 'Begins with the first messages of another conversation.',
  'agent_diff.from': 'The step at whose end the comparison begins.',
  runId: 'The run of that agent which has these messages.',
  count: 'How many of its messages.',
  maxBytes: 'Returns one gapless page of at most this many bytes, in place of the beginning and the end.',
  wait: 'What to wait for first: "exit", "output", "idle", "needs_input", or "pattern:RE".',
  'wait.for':
    'What to wait for in each: "exit" (the default), "output", "idle", "needs_input", or "pattern:RE".',
  waitMs: 'The longest wait, in milliseconds. Default 50000: most clients give up a call after a minute.',
  keyboard: 'The text to type. Enter follows; an empty text is just Enter.',
  enter: 'false: the text without Enter after it.',
  keys: 'Keys by name, such as "ctrl-c" or "up", pressed after the text.',
  prompt: 'The prompt that this answers, as a result showed it: nothing is typed if it has gone.',
  command: 'The "commandId" of that result.',
  since: 'Its "waiting.since".',
  reason: 'Why, for the record.',
  sessions: 'Numbers of sessions to wait for, all of one agent and host. Default: the session.',
  mode: '"task" (the default) answers and ends; "conversation" waits for more messages.',
  'wait.mode': '"all" (the default), or "any": one of them is enough.',
  'send.mode': 'While the agent works: "queue" (the default) lets it finish first, "interrupt" cuts in.',
  ended: 'true: also what has ended.',
  task: 'What it is to do: its first message.',
  model: 'provider:name, such as "anthropic:claude-sonnet-4-5". `holdfast doctor` lists those with keys.',
  dialect: 'How its replies call tools. Default: what fits the model.',
  instructions: 'What the agent reads about itself before anything else.',
  context: 'Files that it reads first, such as AGENTS.md. Missing ones are left out.',
  outputSchema: 'JSON Schema that its answer, a JSON text, must match.',
  remoteHost: 'The other machine on which it may run code.',
  tenant: 'Whose agent it is: tenants take turns at the workers.',
  limits: 'Limits of each turn.',
  steps: 'Model calls. Default 100.',
  wallMs: 'Milliseconds. Default 24 h.',
  formatRepairs: 'Malformed replies in a row before the turn ends. Default 3.',
  toolCalls: 'Tool calls. Default 10000.',
  tokens: 'Tokens, in and out. Default: no limit.',
  costUsd: 'US dollars, for models with known prices. Default: no limit.',
  agents: 'Sub-agents in total. Default 16.',
  depth: 'Levels of sub-agents. Default 3; 0: none.',
  openSessions: 'Sessions to open at once, so that the first command in each need not wait for a shell.',
  keep: 'true: its sessions stay open when it ends.',
  idleMs: 'Ends a conversation after this long without a message, in milliseconds. Default 24 h.',
  workspace: 'It works in a folder of its own, which begins as a copy of another one.',
  of: 'The folder that is copied; null: the working folder of the host.',
  hash: 'The checkpoint to begin with. Default: the files as they are now.',
  'workspace.for': 'The agent that gets the changes. Default: the folder stays.',
  base: 'Set by Holdfast.',
  message: 'The text for the agent.',
  step: 'One step, by its number in "agent_steps".',
  to: 'The step at whose end the comparison ends.',
  'rewind_agent.to': 'The step whose end is brought back; 0: before the first.',
  turn: 'One turn, by its number.',
  lines: 'true: with the changed lines.',
  what: '"both" (the default), "files" or "conversation".',
  dryRun: 'true: only says what would change.',
  force: 'true: also where others have changed files since; a checkpoint keeps theirs.',
  stop: "true: first ends what runs in the agent's sessions.",
};

/** The schema with a description of each of its properties, however deep. */
export function describeArguments(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, JsonSchema>;
    items?: JsonSchema;
    anyOf?: JsonSchema[];
  };
  const described = Object.entries(properties ?? {}).map(([name, property]) => {
    const own = [...path, name];
    return [name, { ...describeArguments(property, own), description: descriptionOf(own) }];
  });
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(described) as object }),
    ...(items && { items: describeArguments(items, path) }),
    ...(anyOf && { anyOf: anyOf.map((one) => describeArguments(one, path)) }),
  };
}

function descriptionOf(path: readonly string[]): string | undefined {
  const [parent, name] = path.slice(-2);
  return DESCRIPTIONS[`${parent}.${name}`] ?? DESCRIPTIONS[String(name)];
}
