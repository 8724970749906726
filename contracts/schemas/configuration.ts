// Shape of `holdfast.toml`. Keys that Codex's `config.toml` has keep their names. What is read from it holds secrets:
// no fault may show a value.
import { z } from './zod';

const text = z.string().check(z.minLength(1));
const seconds = z.number().check(z.positive(), z.maximum(86_400));
const texts = z.array(text);
const values = z.record(text, z.string());

export const SERVER_NAME_PATTERN = /^[a-zA-Z0-9_-]+$/;
const STDIO_KEYS = ['args', 'env', 'env_vars', 'cwd'] as const;
const HTTP_KEYS = ['headers', 'http_headers', 'env_http_headers', 'bearer_token_env_var'] as const;

/** For each wrong key what is allowed; empty where all is well. */
function transportFaults(server: Record<string, unknown>): string[] {
  const { command, url } = server;
  if ((command === undefined) === (url === undefined))
    return [`has ${command === undefined ? 'neither' : 'both'}, allowed one of "command" and "url"`];
  const wrong = (command === undefined ? STDIO_KEYS : HTTP_KEYS).filter((key) => server[key] !== undefined);
  const [has, belongs] = command === undefined ? ['url', 'command'] : ['command', 'url'];
  return wrong.map((key) => `has "${key}" beside "${has}", allowed beside "${belongs}"`);
}

const mcpServerSchema = z
  .strictObject({
    command: z.optional(text),
    args: z.optional(z.array(z.string())),
    env: z.optional(values),
    env_vars: z.optional(texts),
    cwd: z.optional(text),
    url: z.optional(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })),
    headers: z.optional(values),
    http_headers: z.optional(values),
    env_http_headers: z.optional(z.record(text, text)),
    bearer_token_env_var: z.optional(text),
    enabled: z._default(z.boolean(), true),
    enabled_tools: z.optional(texts),
    disabled_tools: z._default(texts, []),
    startup_timeout_sec: z._default(seconds, 30),
    tool_timeout_sec: z._default(seconds, 60),
  })
  .check(
    z.superRefine((server, context) => {
      for (const message of transportFaults(server))
        context.addIssue({ code: 'custom', message, input: server });
    }),
  );

const serverName = z
  .string()
  .check(z.regex(SERVER_NAME_PATTERN, { error: 'must be named with a-z, A-Z, 0-9, "_" and "-" alone' }));

export const configurationSchema = z.strictObject({
  features: z.prefault(z.strictObject({ unified_exec: z._default(z.boolean(), true) }), {}),
  tools: z.prefault(
    z.strictObject({
      modules: z._default(texts, []),
      interactive_transcript: z._default(z.boolean(), false),
    }),
    {},
  ),
  fetch: z.prefault(z.strictObject({ allow_private: z._default(texts, []) }), {}),
  dialects: z.prefault(
    z.strictObject({ tool_tag_start: z.optional(text), tool_tag_end: z.optional(text) }),
    {},
  ),
  prompts: z.prefault(z.strictObject({ folder: z.optional(text) }), {}),
  roles: z.prefault(z.strictObject({ folder: z._default(text, 'roles') }), {}),
  mcp_servers: z._default(z.record(serverName, mcpServerSchema), {}),
});

export type McpServerEntry = z.infer<typeof mcpServerSchema>;
