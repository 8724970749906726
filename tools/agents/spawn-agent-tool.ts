// The tool `spawn_agent`: starts a sub-agent of the calling agent.
import * as z from 'zod/mini';
import { limitsSchema } from '../../contracts/schemas/agent';
import { toolNamesSchema } from '../../contracts/schemas/session';
import type { Tool, ToolContext } from '../tool';
import { findRole } from './roles';

const argsSchema = z.strictObject({
  role: z.string().check(z.minLength(1), z.maxLength(200)),
  prompt: z.string().check(z.minLength(1)),
  model: z.optional(z.string()),
  tools: z.optional(toolNamesSchema),
  limits: z.optional(limitsSchema),
});
type Limits = z.infer<typeof limitsSchema>;

/** `rolesFolder`: the folder with the role files. */
export function createSpawnAgentTool(rolesFolder: string | undefined): Tool<z.infer<typeof argsSchema>> {
  return {
    name: 'spawn_agent',
    description:
      'Starts a sub-agent with its own task and returns its agent id at once; it works while you continue. It has ' +
      'its own conversation and its own sessions, on the same host and in the same folder, and sees nothing of ' +
      'yours: put everything it needs into "prompt". "role" names its role, for example "Planner". Get its answer ' +
      'with wait_for_agents. "tools", "model" and "limits" narrow what it may use. It ends with you.',
    args: argsSchema,
    effects: 'idempotent',
    async run({ role, prompt, model, tools, limits = {} }, context) {
      const { instructions, ...own } = await findRole(rolesFolder, role);
      const bounds = lesserOf(own.limits ?? {}, limits);
      return context.client.agent(context.agent).spawn({
        key: context.key,
        role,
        prompt,
        instructions,
        model: model ?? own.model,
        tools: own.tools && tools ? tools.filter((name) => own.tools?.includes(name)) : (tools ?? own.tools),
        limits: { ...bounds, ...withinBudget(bounds, context) },
      });
    },
  };
}

/** A role's limits are narrowed, never widened. */
function lesserOf(one: Limits, other: Limits): Limits {
  const lesser = { ...one, ...other };
  for (const name of Object.keys(one) as (keyof Limits)[])
    lesser[name] = Math.min(one[name] ?? Infinity, other[name] ?? Infinity);
  return lesser;
}

/** Its turn's budget is the rest of the caller's. */
function withinBudget(limits: Limits, { budgetLeft = {} }: ToolContext): Limits {
  const { tokens, costUsd } = budgetLeft;
  return {
    ...(tokens !== undefined && { tokens: Math.min(tokens, limits.tokens ?? tokens) }),
    ...(costUsd !== undefined && { costUsd: Math.min(costUsd, limits.costUsd ?? costUsd) }),
  };
}
