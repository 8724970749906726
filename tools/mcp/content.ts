// An MCP tool's result as scripts and models get it. Images are shown to models that can see; audio and other bytes are
// described by type and size: a model cannot read them as base64, and they do not belong in history.
import { isDeepStrictEqual } from 'node:util';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { JsonValue } from '../../contracts/tools/tools';
import type { ToolContext } from '../tool';
import { jsonText } from './reader/fields';
import type { CallResult, Part } from './reader/read-result';

/**
 * The text of all parts, one below the other.
 * @param addImage shows an image; without it, images are described, too
 */
export function contentText(parts: readonly Part[], addImage?: ToolContext['addImage']): string {
  let shown = 0;
  const show = (data: string, otherwise: (remark?: string) => string): string => {
    if (!addImage) return otherwise();
    try {
      addImage(Buffer.from(data, 'base64'));
      return `[image ${++shown}]`;
    } catch (err) {
      if (!(err instanceof HoldfastError)) throw err;
      return otherwise(`not shown: got ${String(err.facts.got)}, allowed ${String(err.facts.allowed)}`);
    }
  };
  return parts.map((part) => textOf(part, show)).join('\n');
}

/** All that a result says: its text and, unless a part of it is the same, its structured content. */
export function wholeText({ parts, structured }: CallResult, addImage?: ToolContext['addImage']): string {
  const text = contentText(parts, addImage);
  if (structured === undefined || parts.some((part) => says(part, structured))) return text;
  return [text, jsonText(structured)].filter(Boolean).join('\n');
}

/**
 * The object of a result whose shape is declared; undefined if it has none. Servers of older revisions of MCP write it as
 * their only text.
 */
export function structuredValue({ parts, structured }: CallResult): JsonValue | undefined {
  // PHP's empty object.
  if (Array.isArray(structured) && structured.length === 0) return {};
  if (structured !== undefined) return structured;
  const [only, ...others] = parts;
  const value = only?.type === 'text' && others.length === 0 ? parsed(only.text) : undefined;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

const says = (part: Part, structured: JsonValue): boolean =>
  part.type === 'text' && isDeepStrictEqual(parsed(part.text), structured);

function parsed(text: string): JsonValue | undefined {
  if (!/^\s*[{["\d-]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

type Show = (data: string, otherwise: (remark?: string) => string) => string;

function textOf(part: Part, show: Show): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
      return show(part.data, describedBytes('image', part.mimeType, part.data));
    case 'audio':
      return describedBytes('audio', part.mimeType, part.data)();
    case 'resource_link':
      return described([`link to ${part.name} at ${part.uri}`, part.mimeType, inBytes(part.size)]);
    case 'resource': {
      const { uri, mimeType, text, blob = '' } = part;
      const what = `resource ${uri}`;
      if (text !== undefined) return `${described([what, mimeType])}\n${text}`;
      const otherwise = describedBytes(what, mimeType, blob);
      return mimeType?.startsWith('image/') ? show(blob, otherwise) : otherwise();
    }
  }
}

const describedBytes =
  (what: string, mimeType: string | undefined, data: string) =>
  (remark?: string): string =>
    described([what, mimeType, inBytes(Buffer.from(data, 'base64').length), remark]);

const described = (parts: (string | undefined)[]): string => `[${parts.filter(Boolean).join(', ')}]`;

const inBytes = (bytes: number | undefined): string | undefined =>
  bytes === undefined ? undefined : `${bytes} bytes`;
