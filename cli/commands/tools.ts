// `holdfast tools` and `tools show NAME`: the tools of models and scripts, and why any are missing.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { inertLine } from '../../contracts/text/inert';
import { ownValue } from '../../contracts/own';
import type { RegistryRecord } from '../../contracts/tools/registry-record';
import type { ToolDescription } from '../../contracts/tools/tools';
import { createToolRegistry } from '../../tools/registry';
import { builtInOptions, workersConfiguration } from '../../workers/configuration/configuration';
import { recordedTools } from '../../workers/configuration/recorded-choice';
import { exposedNow, moduleFiles, refuseExposed } from '../../workers/configuration/exposed';
import { publishedRegistry } from '../../workers/tools/registry-record';
import { loadTools } from '../../workers/tools/tool-modules';
import { configOf, dataDirOf, type GlobalOptions } from '../global-options';
import { printJson } from '../print/print-json';
import { describeTool } from '../print/tool-page';
import { note, styled } from '../terminal/terminal-style';
import { counted } from '../../contracts/text/counted';
import { shortened } from '../../contracts/text/well-formed';
import type { Command } from 'commander';
import { action, below, examples, type Define } from '../define-command';

export const define: Define = (command) => {
  below(command, 'show <name>', 'one tool: its arguments, its result, how a script calls it').action(
    action((name: string, _options: object, self: Command) => showTool(name, self.optsWithGlobals())),
  );
  return command
    .addHelpText('after', examples('holdfast tools', 'holdfast tools show shell'))
    .action(action(tools));
};

const EFFECTS = { read_only: 'read only', idempotent: 'idempotent', once: 'once' } as const;

async function tools(options: GlobalOptions): Promise<number> {
  const record = await registryOf(options);
  if (options.json) printJson(record);
  else print(record);
  return 0;
}

async function showTool(name: string, options: GlobalOptions): Promise<number> {
  const { tools: all } = await registryOf(options);
  const tool = all.find((one) => one.name === name);
  if (!tool) {
    const allowed = all.map((one) => one.name).join(', ');
    throw new HoldfastError('unknown_tool', { got: name, allowed });
  }
  if (options.json) printJson(tool);
  else process.stdout.write(describeTool(tool));
  return 0;
}

/** From the running worker, which alone has MCP servers; else from the configuration. */
async function registryOf(options: GlobalOptions): Promise<RegistryRecord> {
  const dataDir = dataDirOf(options);
  const published = publishedRegistry(dataDir);
  if (published) return { tools: published.tools, servers: published.servers, faults: published.faults };
  const config = configOf(options);
  const configuration = workersConfiguration(dataDir, config);
  const { modules, mcpServers } = configuration;
  refuseExposed(moduleFiles([...modules, ...recordedTools(dataDir)]), exposedNow({ dataDir, config }));
  const own = await loadTools([...modules, ...recordedTools(dataDir)]);
  const registry = createToolRegistry(own, [], builtInOptions(configuration));
  const servers = mcpServers.map(({ name }) => name).join(', ');
  const hidden = servers
    ? [`No worker is running: the tools of the MCP servers are not shown (${servers}).`]
    : [];
  return { tools: registry.describe(), servers: [], faults: hidden };
}

function print({ tools: all, servers, faults }: RegistryRecord): void {
  const width = Math.max(...all.map(({ name }) => inertLine(name).length));
  for (const tool of [...all].sort((a, b) => a.name.localeCompare(b.name)))
    process.stdout.write(row(tool, width));
  for (const { name, state, tools: count, fault } of servers) {
    const detail =
      fault && state !== 'connected'
        ? `: ${fault}`
        : state === 'connected'
          ? `, ${counted(count, 'tool')}`
          : '';
    note(`MCP server ${name}: ${state}${detail}`);
  }
  for (const fault of faults) note(fault);
}

function row({ name, effects, runsOn, description }: ToolDescription, width: number): string {
  const facts = inertLine(`${(ownValue(EFFECTS, effects) ?? effects).padEnd(10)}  ${runsOn.padEnd(8)}`);
  return `${styled('bold', inertLine(name).padEnd(width))}  ${facts}  ${inertLine(firstSentence(description))}\n`;
}

const MAX_SENTENCE = 100;

function firstSentence(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  const sentence = /^.*?[.!?](?= |$)/.exec(line)?.[0] ?? line;
  return sentence.length <= MAX_SENTENCE ? sentence : shortened(sentence, MAX_SENTENCE - 1);
}
