// Shapes of the messages about scripts' tool calls; see session.ts for why zod/mini.
import { MESSAGE_ID_MAX_CHARS } from '../ids';
import { EFFECTS } from '../tools/tools';
import { milliseconds, toolName } from './session';
import { z } from './zod';

const id = z.string().check(z.minLength(1), z.maxLength(MESSAGE_ID_MAX_CHARS));
const ids = z.array(id).check(z.maxLength(10_000));
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
/** A queue of agents, or a host's. */
const taskQueue = z.string().check(z.regex(/^(?:host\.)?[a-z0-9][a-z0-9_-]{0,62}$/));
const object = z.optional(z.string().check(z.regex(/^[a-z0-9][a-z0-9_-]{0,62}\/(?:images\/)?[0-9a-f]{64}$/)));
const blobSchema = z.strictObject({ sha256, bytes: z.int(), at: z.optional(taskQueue), object });

export const carryBlobSchema = z.strictObject({
  at: taskQueue,
  sha256,
  from: z.int().check(z.minimum(0)),
  object,
});

export const offerRequestSchema = z.strictObject({ known: z.nullable(z.string()) });

/** Not strict: the agents' worker may be of a newer release. */
export const toolsOfferSchema = z.object({
  digest: z.string(),
  tools: z.nullable(
    z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        parameters: z.record(z.string(), z.unknown()),
        result: z.nullable(z.record(z.string(), z.unknown())),
        effects: z.enum(EFFECTS),
        timeoutMs: z.optional(z.nullable(z.number())),
        secret: z.optional(z.boolean()),
      }),
    ),
  ),
  leftOut: z.object({ count: z.int(), names: z.array(z.string()) }),
});

const reason = z.strictObject({ rule: z.string(), found: z.string() });
const shownValue = z.strictObject({ name: z.string(), text: z.string(), bytes: z.int(), omitted: z.int() });
const holdSchema = z.strictObject({
  what: z.string().check(z.maxLength(1_000)),
  hash: z.string(),
  reasons: z.array(reason).check(z.maxLength(100)),
  expiresMs: milliseconds,
  place: z.strictObject({ host: z.string(), cwd: z.nullable(z.string()) }),
  secret: z.optional(z.boolean()),
  values: z.optional(z.array(shownValue).check(z.maxLength(1_000))),
  askedAt: z.optional(z.number()),
});

export const toolCallSchema = z.strictObject({
  id,
  // The command's id, plus the suffix that is added if it runs again.
  commandId: z.string().check(z.minLength(1), z.maxLength(MESSAGE_ID_MAX_CHARS + 10)),
  tool: toolName,
  args: z.record(z.string(), z.unknown()),
  blob: z.optional(blobSchema),
  cwd: z.string(),
  effects: z.enum(EFFECTS),
  runsOn: z.enum(['host', 'anywhere']),
  timeoutMs: milliseconds,
  secret: z.optional(z.boolean()),
  hold: z.optional(holdSchema),
  answered: z.optional(ids),
});

export const toolResultsSchema = z.strictObject({
  ids: ids.check(z.minLength(1)),
  answered: z.optional(ids),
});

export const cancelToolsSchema = z.strictObject({ ids, reason: z.string().check(z.maxLength(1_000)) });
