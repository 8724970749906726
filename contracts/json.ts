// JSON, as it crosses process boundaries.

export type JsonValue =
  string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue | undefined };

/** JSON Schema as its author wrote it, which may be an MCP server: nothing in it can be relied on. */
export type JsonSchema = Readonly<Record<string, unknown>>;
