// JSON, as it crosses process boundaries.

export type JsonValue =
  string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue | undefined };

/** JSON Schema as its author wrote it, which may be an MCP server: nothing in it can be relied on. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The target of a reference within a schema, such as `#/$defs/Node` (RFC 6901); undefined if there is none. */
export function referred(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#')) return undefined;
  const keys = reference.slice(1).split('/').slice(1);
  return keys.reduce<unknown>((at, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    const isThere = typeof at === 'object' && at !== null && !Array.isArray(at) && Object.hasOwn(at, name);
    return isThere ? (at as JsonSchema)[name] : undefined;
  }, root);
}
