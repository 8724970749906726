// JSON, as it crosses process borders.

export type JsonValue =
  string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue | undefined };

/** JSON Schema as its author wrote it: an MCP server's too, so nothing in it can be relied upon. */
export type JsonSchema = Readonly<Record<string, unknown>>;
