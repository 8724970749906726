// The result of a call, as a server returns it.
import type { JsonValue } from '../../../contracts/tools/tools';
import { fieldsOf, isObject, jsonText, listOf, textOf, type Fields } from './fields';

export type Part =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; mimeType?: string | undefined; data: string }
  | {
      type: 'resource_link';
      name: string;
      uri: string;
      mimeType?: string | undefined;
      size?: number | undefined;
    }
  | { type: 'resource'; uri: string; mimeType?: string | undefined; text?: string; blob?: string };

export interface CallResult {
  parts: Part[];
  /** Absent if there is none. */
  structured?: JsonValue;
  isError: boolean;
}

/** Everything is kept: what is not as MCP defines it becomes a text. */
export function readResult(given: unknown): CallResult {
  const { content, structuredContent, isError, toolResult } = fieldsOf(given) ?? {};
  const parts = partsOf(content ?? toolResult);
  return {
    parts: parts.map(partOf),
    ...(structuredContent !== undefined && { structured: structuredContent as JsonValue }),
    isError: isError === true || isError === 'true' || isError === 1,
  };
}

/** A part alone is a list of one. */
function partsOf(content: unknown): readonly unknown[] {
  if (isObject(content) && Object.keys(content).length > 0) return listOf(content) ?? [content];
  return (listOf(content) ?? [content]).filter((part) => part !== null);
}

function partOf(given: unknown): Part {
  const part = isObject(given) ? (fieldsOf(given) ?? {}) : {};
  const mimeType = textOf(part.mimeType);
  switch (part.type) {
    case 'text':
      return { type: 'text', text: textOf(part.text) ?? '' };
    case 'image':
    case 'audio':
      return typeof part.data === 'string' ? bytesOf(part.type, part.data, mimeType) : unknownPart(given);
    case 'resource_link':
      return linkOf(part, mimeType) ?? unknownPart(given);
    case 'resource':
      return resourceOf(part.resource) ?? unknownPart(given);
    default:
      return unknownPart(given);
  }
}

const DATA_URL = /^data:([^;,]*)[^,]*;base64,/;

/** Some servers send the URL of a page instead of the bytes. */
function bytesOf(type: 'image' | 'audio', data: string, mimeType: string | undefined): Part {
  const [prefix, named] = DATA_URL.exec(data.slice(0, 200)) ?? ['', ''];
  return { type, mimeType: mimeType ?? (named || undefined), data: data.slice(prefix.length) };
}

function linkOf({ name, uri: anyUri, size }: Fields, mimeType: string | undefined): Part | undefined {
  const uri = textOf(anyUri);
  if (uri === undefined) return undefined;
  const bytes = typeof size === 'number' ? size : undefined;
  return { type: 'resource_link', name: textOf(name) ?? uri, uri, mimeType, size: bytes };
}

function resourceOf(given: unknown): Part | undefined {
  const resource = fieldsOf(given);
  if (!resource) return undefined;
  const [text, blob] = [textOf(resource.text), textOf(resource.blob)];
  if (text === undefined && blob === undefined) return undefined;
  const uri = textOf(resource.uri) ?? 'without an address';
  const mimeType = textOf(resource.mimeType);
  return { type: 'resource', uri, mimeType, ...(text === undefined ? { blob: blob ?? '' } : { text }) };
}

const unknownPart = (given: unknown): Part => ({
  type: 'text',
  text: typeof given === 'string' ? given : jsonText(given),
});
