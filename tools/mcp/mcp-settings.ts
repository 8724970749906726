// The settings of an MCP server.

/** A program that communicates over its standard input and output. */
export interface StdioServer {
  kind: 'stdio';
  command: string;
  args: readonly string[];
  cwd: string;
  /** Its complete environment. */
  env: Readonly<Record<string, string>>;
}

/** A server that speaks streamable HTTP. */
export interface HttpServer {
  kind: 'http';
  url: string;
  headers: Readonly<Record<string, string>>;
}

export interface McpServerSettings {
  /** 1 or more of a-z, A-Z, 0-9, "_" and "-". */
  name: string;
  transport: StdioServer | HttpServer;
  /** Names as the server spells them; null: all. */
  enabledTools: readonly string[] | null;
  disabledTools: readonly string[];
  /** The longest wait for a connection and the list of tools. */
  startupMs: number;
  /** The longest wait for a result or, after a sign of progress, for the next one. */
  toolMs: number;
  /** Values that must not appear in messages. */
  secrets: readonly string[];
  /** Why it cannot be connected at all, if known. */
  fault: string | null;
}

/** Shorter values are common words, not secrets. */
const MIN_SECRET_LENGTH = 4;

/** The text without the settings' secrets. */
export function withoutSecrets({ secrets }: McpServerSettings, text: string): string {
  return secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
}
