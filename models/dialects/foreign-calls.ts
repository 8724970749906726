// Calls in the syntax of other model families: a server that does not read them passes them on as text. Such a reply is
// neither a call nor an answer. Text about these forms, as inline code or in a fence, stays text. Pure.
import { codeSpans, withoutCode } from './code-spans';
import { isObject } from './json-text';

/** What follows the mark distinguishes a call from a word about it. */
const MARKED: readonly [form: string, pattern: RegExp][] = [
  ['<tool_call>', /<(?:[\w-]+:)?tool_?calls?>\s*(?:[[{<]|[\w.-]+[ \t]*(?:[\n<({]|$))/i],
  ['<function_calls>', /<(?:[\w-]+:)?function_?calls?>\s*[<[{]/i],
  ['<invoke name=...>', /<(?:[\w-]+:)?invoke\s+name\s*=/i],
  ['<function=...>', /<function=[\w.-]+\s*>/i],
  ['<start_function_call>', /<start_function_call>/],
  ['[TOOL_CALLS]', /\[TOOL_CALLS\]\s*(?:[[{]|[\w.-]+\s*(?:\[(?:ARGS|CALL_ID)\]|\{))/],
  ['<|tool_call|>', /<[|｜‖]{1,2}(?:tool|python|function|action|plugin|DSML)[^<>\s]{0,60}[|｜‖]/i],
  [
    '<|channel|>',
    /<\|(?:channel|start|recipient)\|>[^<\n]{0,200}\bto=|<\|channel\|>\s*commentary|\bto=functions\.\w/,
  ],
];
const MAX_SHOWN_TOOLS = 500;

/**
 * What form of a call a text holds, as a sentence for the model; undefined if it is an answer.
 * @param tools names that it may call: forms without a mark of their own count only with one of these
 * @param isJson the answer is to be JSON, which may look like a call
 */
export function foreignCall(text: string, tools: readonly string[], isJson = false): string | undefined {
  const spans = codeSpans(text);
  const prose = withoutCode(text, spans);
  const marked = MARKED.find(([, pattern]) => pattern.test(prose))?.[0];
  const unfenced = withoutCode(
    text,
    spans.filter(({ isFence }) => isFence),
  );
  const known = new Set(tools.slice(0, MAX_SHOWN_TOOLS));
  const form =
    marked ??
    (isReact(unfenced, known) ? 'Action: ...' : undefined) ??
    (isNamedTag(prose, known) ? 'a tag with the name of a tool' : undefined) ??
    (!isJson && isWholeCall(text.trim(), known) ? 'JSON or code in the text' : undefined);
  return form && `It holds a call as text, in the form of another model family: ${form}.`;
}

type Names = ReadonlySet<string>;

const ACTION = /^[ \t]*[*_]{0,2}Action[*_]{0,2}:[*_]{0,2}[ \t]*[`'"[]?([\w.-]+)/gim;

const isReact = (text: string, tools: Names): boolean =>
  [...text.matchAll(ACTION)].some(([, name = '']) => tools.has(name));

/** Such as `<read_file><path>a.txt</path></read_file>`. */
const isNamedTag = (text: string, tools: Names): boolean =>
  [...text.matchAll(/<(\w+)>\s*(?=[<{])/g)].some(
    ([, name = '']) => tools.has(name) && text.includes(`</${name}>`),
  );

const FENCED = /^```[ \t]*(\w*)[^\n]*\n([\s\S]*?)\n?```$/;
const CODE_OF_CALLS = ['tool_code', 'tool_call', 'tool_calls', 'function_call'];
const CALLED =
  /^\[?\s*(?:(?:functions|default_api|tools)\.)?(\w+)\s*\(\s*(?:\w+\s*=[\s\S]*|\{[\s\S]*\}\s*)?\)\s*\]?;?$/;

/** The whole text is a call, which no answer is. */
function isWholeCall(text: string, tools: Names): boolean {
  const [, language = '', fenced] = FENCED.exec(text) ?? [];
  if (CODE_OF_CALLS.includes(language)) return true;
  const body = (fenced ?? text).trim();
  if (fenced === undefined && tools.has(CALLED.exec(body)?.[1] ?? '')) return true;
  if (!/^[[{]/.test(body)) return false;
  try {
    const value: unknown = JSON.parse(body);
    const items: unknown[] = Array.isArray(value) ? value : [value];
    return items.length > 0 && items.every((item) => isCallOf(item, tools));
  } catch {
    return false;
  }
}

const NAME_KEYS = ['name', 'tool', 'tool_name', 'function', 'action', 'recipient_name'];
const ARGUMENT_KEYS = ['arguments', 'parameters', 'args', 'input', 'action_input', 'tool_input', 'tool_args'];

function isCallOf(item: unknown, tools: Names): boolean {
  if (!isObject(item)) return false;
  if (isObject(item.function)) return isCallOf(item.function, tools);
  const isNamed = NAME_KEYS.some((key) => typeof item[key] === 'string' && tools.has(item[key]));
  return isNamed && ARGUMENT_KEYS.some((key) => key in item);
}
