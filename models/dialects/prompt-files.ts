// The prompts that teach models their dialect: files that a person can edit, with variables such as
// {AVAILABLE_TOOLS_INTERFACE}. They are read and checked once, when workers start.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DIALECTS, type DialectName } from '../../contracts/models/dialect-names';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { ownValue } from '../../contracts/own';
import type { ToolDescription } from '../../contracts/tools/tools';
import { packageRoot } from '../../system/package-root';
import type { Tags } from './tagged-block';

/** A prompt with the tools on offer. */
export type PromptText = (tools: readonly ToolDescription[]) => string;

/** `{` and `}` around anything else, and after `$`, are text. */
const VARIABLE = /(?<!\$)\{([A-Z][A-Z0-9_]*)\}/g;
const TOOLS_VARIABLE = 'AVAILABLE_TOOLS_INTERFACE';

/**
 * Reads the prompt of each dialect from `folder`, or our own if it is not there. Throws `config_invalid` with every
 * unknown variable.
 */
export function readPrompts(folder: string | undefined, tags: Tags): Record<DialectName, PromptText> {
  const faults: string[] = [];
  if (folder !== undefined && !isFolder(folder))
    faults.push(`[prompts] folder: got ${folder}, allowed a folder`);
  const prompts = DIALECTS.map((name): [DialectName, PromptText] => {
    const values: Record<string, string> =
      name === 'tagged' ? { TOOL_TAG_START: tags.start, TOOL_TAG_END: tags.end } : {};
    try {
      const file = fileOf(name, folder);
      const text = readFileSync(file, 'utf8').trim();
      faults.push(...variableFaults(file, text, [TOOLS_VARIABLE, ...Object.keys(values)]));
      return [name, promptText(text, values)];
    } catch (err) {
      faults.push(`the prompt of ${name} cannot be read: ${reasonOf(err)}`);
      return [name, (): string => ''];
    }
  });
  if (faults.length > 0) throw new HoldfastError('config_invalid', { faults: `${faults.join('; ')}.` });
  return Object.fromEntries(prompts) as Record<DialectName, PromptText>;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

function fileOf(name: DialectName, folder: string | undefined): string {
  const own = folder === undefined ? undefined : join(folder, `${name}.md`);
  return own !== undefined && existsSync(own) ? own : join(packageRoot(), 'models', 'prompts', `${name}.md`);
}

function variableFaults(file: string, text: string, allowed: readonly string[]): string[] {
  const unknown = [...text.matchAll(VARIABLE)].filter(([, name]) => !allowed.includes(name ?? ''));
  return unknown.map(({ 0: variable, index }) => {
    const line = text.slice(0, index).split('\n').length;
    return `${file}, line ${line}: unknown variable ${variable}, allowed ${allowed.map((name) => `{${name}}`).join(', ')}`;
  });
}

/** One worker's agents rarely have more sets of tools than this. */
const KEPT_TEXTS = 16;

/** The same tools yield the same text, byte for byte: providers cache equal beginnings. */
function promptText(template: string, values: Readonly<Record<string, string>>): PromptText {
  const kept = new Map<string, string>();
  return (tools) => {
    const key = JSON.stringify(tools);
    let text = kept.get(key);
    if (text === undefined) {
      const all: Record<string, string> = { ...values, [TOOLS_VARIABLE]: describeTools(tools) };
      text = template.replace(VARIABLE, (variable, name: string) => ownValue(all, name) ?? variable);
      const [oldest] = kept.keys();
      if (oldest !== undefined && kept.size >= KEPT_TEXTS) kept.delete(oldest);
      kept.set(key, text);
    }
    return text;
  };
}

function describeTools(tools: readonly ToolDescription[]): string {
  if (tools.length === 0) return '(none)';
  return tools
    .map(({ name, description, parameters, result }) =>
      [
        `### ${name}`,
        description,
        '',
        `Arguments (JSON Schema): ${JSON.stringify(parameters)}`,
        `Result: ${result === null ? 'text' : `JSON (JSON Schema): ${JSON.stringify(result)}`}`,
      ].join('\n'),
    )
    .join('\n\n');
}
