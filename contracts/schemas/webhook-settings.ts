// Shapes of webhooks: in the configuration, in the API, and of their workflow. No fault may show an address or a secret.
import { AGENT_PATTERN, ALL_AGENTS } from '../text/glob';
import { WEBHOOK_EVENTS, type WebhookEntry, type WebhookInput } from '../webhooks';
import { idSchema } from './session';
import { matching, z } from './zod';

const MAX_URL_CHARS = 2_000;
/** Standard Webhooks: 24 to 64 bytes, in base64. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

export const isWebhookSecret = (text: string): boolean => SECRET.test(text);

const url = z.string().check(
  z.maxLength(MAX_URL_CHARS),
  z.refine<string>((text) => isAddress(text), {
    error: 'must be an http or https address without a user name',
  }),
);

/** Workflows, which load this module, have no URL; clients check the rest. */
const isAddress = (text: string): boolean => /^https?:\/\/[^\s/?#@]+(?:[/?#]\S*)?$/i.test(text);

const events = z
  .array(
    z.enum(WEBHOOK_EVENTS, {
      error: `must be some of ${WEBHOOK_EVENTS.map((name) => `"${name}"`).join(', ')}`,
    }),
  )
  .check(z.minLength(1), z.maxLength(WEBHOOK_EVENTS.length));
const agents = z
  .array(
    z.string().check(matching(AGENT_PATTERN, { error: 'must be an id, in which "*" stands for anything' })),
  )
  .check(z.minLength(1), z.maxLength(100));
const text = z.string().check(z.minLength(1));

/** One `[webhooks.NAME]` of `holdfast.toml`. */
export const webhookTable = z
  .strictObject({
    url,
    events: z._default(events, [...WEBHOOK_EVENTS]),
    agents: z._default(agents, [ALL_AGENTS]),
    secret_file: z.optional(text),
    secret_env: z.optional(text),
  })
  .check(
    z.refine(
      ({ secret_file: file, secret_env: variable }) => (file === undefined) !== (variable === undefined),
      {
        error: 'must have one of "secret_file" and "secret_env"',
      },
    ),
  );

/** Without an id it gets one, without a secret a new one. */
export const webhookBody = z.strictObject({
  id: z.optional(idSchema),
  url,
  events: z.optional(events),
  agents: z.optional(agents),
  secret: z.optional(
    z.string().check(z.regex(SECRET, { error: 'must be "whsec_" and 24 to 64 bytes in base64' })),
  ),
});

const entry = {
  id: z.string(),
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  agents: z.array(z.string()),
  source: z.enum(['api', 'config']),
  createdAt: z.string(),
};
export const webhookCreated = z.object({ ...entry, secret: z.string() });
export const webhookList = z.object({
  items: z.array(
    z.object({
      ...entry,
      waiting: z.nullable(z.number()),
      failing: z.nullable(z.object({ since: z.string(), attempts: z.number(), reason: z.string() })),
    }),
  ) as unknown as z.ZodMiniArray<z.ZodMiniType<WebhookEntry>>,
  next: z.nullable(z.string()),
});
export const webhookTested = z.object({ id: z.string() });

export const webhookInputSchema = z.strictObject({ webhook: idSchema }) satisfies z.ZodMiniType<WebhookInput>;
export const webhookTestSchema = z.strictObject({ id: z.string().check(z.minLength(1), z.maxLength(100)) });

export type WebhookTable = z.infer<typeof webhookTable>;
