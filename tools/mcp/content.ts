// An MCP tool's result as scripts and models get it. Images and other bytes are described by type and size: a model
// cannot read them as base64, and they do not belong in history.
import type { ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import type { JsonValue } from '../../contracts/tools/tools';
import type { CallToolResult } from './connection';

/** The text of all parts, one below the other. */
export const contentText = (content: readonly ContentBlock[]): string => content.map(textOf).join('\n');

/**
 * What scripts get: the structured content if the tool declares its shape, otherwise the text. Undefined if it declares
 * a shape but returned none.
 */
export function resultValue(
  { content, structuredContent }: CallToolResult,
  isStructured: boolean,
): JsonValue | undefined {
  if (isStructured) return structuredContent as JsonValue | undefined;
  return content.length === 0 && structuredContent ? JSON.stringify(structuredContent) : contentText(content);
}

function textOf(part: ContentBlock): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return described(part.type, part.mimeType, base64Bytes(part.data));
    case 'resource_link':
      return described(`link to ${part.name} at ${part.uri}`, part.mimeType, part.size);
    case 'resource': {
      const { resource } = part;
      const what = `resource ${resource.uri}`;
      if ('text' in resource) return `${described(what, resource.mimeType)}\n${resource.text}`;
      return described(what, resource.mimeType, base64Bytes(resource.blob));
    }
  }
}

const described = (what: string, mimeType?: string, bytes?: number): string =>
  `[${[what, mimeType, bytes === undefined ? undefined : `${bytes} bytes`].filter(Boolean).join(', ')}]`;

function base64Bytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.max(0, (data.length * 3) / 4 - padding);
}
