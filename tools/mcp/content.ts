// An MCP tool's result as scripts and models get it. Images are shown to models that can see; audio and other bytes are
// described by type and size: a model cannot read them as base64, and they do not belong in history.
import type { ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { JsonValue } from '../../contracts/tools/tools';
import type { ToolContext } from '../tool';
import type { CallToolResult } from './connection';

/**
 * The text of all parts, one below the other.
 * @param addImage shows an image; without it, images are described, too
 */
export function contentText(content: readonly ContentBlock[], addImage?: ToolContext['addImage']): string {
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
  return content.map((part) => textOf(part, show)).join('\n');
}

/**
 * What scripts get: the structured content if the tool declares its shape, otherwise the text. Undefined if it declares
 * a shape but returned none.
 */
export function resultValue(
  { content, structuredContent }: CallToolResult,
  isStructured: boolean,
  text = contentText(content),
): JsonValue | undefined {
  if (isStructured) return structuredContent as JsonValue | undefined;
  return content.length === 0 && structuredContent ? JSON.stringify(structuredContent) : text;
}

type Show = (data: string, otherwise: (remark?: string) => string) => string;

function textOf(part: ContentBlock, show: Show): string {
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
      const { resource } = part;
      const what = `resource ${resource.uri}`;
      if ('text' in resource) return `${described([what, resource.mimeType])}\n${resource.text}`;
      const otherwise = describedBytes(what, resource.mimeType, resource.blob);
      return resource.mimeType?.startsWith('image/') ? show(resource.blob, otherwise) : otherwise();
    }
  }
}

const describedBytes =
  (what: string, mimeType: string | undefined, data: string) =>
  (remark?: string): string =>
    described([what, mimeType, inBytes(base64Bytes(data)), remark]);

const described = (parts: (string | undefined)[]): string => `[${parts.filter(Boolean).join(', ')}]`;

const inBytes = (bytes: number | undefined): string | undefined =>
  bytes === undefined ? undefined : `${bytes} bytes`;

function base64Bytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.max(0, (data.length * 3) / 4 - padding);
}
