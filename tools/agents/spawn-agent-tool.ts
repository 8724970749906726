// The tool `spawn_agent`: starts a sub-agent of the calling agent.
import * as z from 'zod/mini';
import type { SpawnPlan } from '../../contracts/schemas/agent';
import { WORKSPACES } from '../../contracts/workspaces/own-workspaces';
import { withinBudget } from '../../contracts/agents/sub-agents';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { limitsSchema } from '../../contracts/schemas/agent';
import { toolNamesSchema } from '../../contracts/schemas/session';
import type { Tool } from '../tool';
import { findRole } from './roles';

const argsSchema = z.strictObject({
  role: z.string().check(z.minLength(1), z.maxLength(200)),
  prompt: z.string().check(z.minLength(1)),
  model: z.optional(z.string()),
  tools: z.optional(toolNamesSchema),
  limits: z.optional(limitsSchema),
  workspace: z.optional(z.enum(WORKSPACES)),
});
type Limits = z.infer<typeof limitsSchema>;
type Args = z.infer<typeof argsSchema>;

/** `rolesFolder`: the folder with the role files. */
export function createSpawnAgentTool(rolesFolder: string | undefined): Tool<Args> {
  const plan = async (
    { role, prompt, model, tools, limits = {}, workspace }: Args,
    callers: string,
  ): Promise<SpawnPlan> => {
    if (model !== undefined && isScripted(model) && !isScripted(callers))
      throw new HoldfastError('invalid_input', {
        what: 'The argument "model"',
        got: model,
        allowed: 'a model of a provider, or none for your own',
        next: 'A scripted model is for agents that are scripted themselves.',
      });
    const { instructions, ...own } = await findRole(rolesFolder, role);
    return {
      role,
      prompt,
      instructions,
      model: model ?? own.model,
      tools: own.tools && tools ? tools.filter((name) => own.tools?.includes(name)) : (tools ?? own.tools),
      limits: lesserOf(own.limits ?? {}, limits),
      ...(workspace && { workspace }),
    };
  };
  return {
    name: 'spawn_agent',
    description:
      'Starts a sub-agent with its own task and returns its agent id at once; it works while you continue. It has ' +
      'its own conversation and its own sessions, on the same host and in the same folder, and sees nothing of ' +
      'yours: put everything it needs into "prompt". With "workspace": "own" it works in a copy of the folder; ' +
      'apply_workspace brings its changes into yours once it has ended. "role" names its role, for example "Planner". Get its answer ' +
      'with wait_for_agents. "tools", "model" and "limits" narrow what it may use. It ends with you.',
    args: argsSchema,
    effects: 'idempotent',
    plan,
    async run(args, { client, agent, key, budgetLeft }) {
      const isNamed = args.model !== undefined && isScripted(args.model);
      const callers = isNamed ? (await client.agent(agent).ownState()).settings.model : '';
      const { limits = {}, ...planned } = await plan(args, callers);
      return client.agent(agent).spawn({ key, ...planned, limits: withinBudget(limits, budgetLeft) });
    },
  };
}

/** Its file is read by the worker, outside any sandbox: what a model has read somewhere must not name one. */
const isScripted = (model: string): boolean => model.startsWith('scripted:');

/** A role's limits are narrowed, never widened. */
function lesserOf(one: Limits, other: Limits): Limits {
  const lesser = { ...one, ...other };
  for (const name of Object.keys(one) as (keyof Limits)[])
    lesser[name] = Math.min(one[name] ?? Infinity, other[name] ?? Infinity);
  return lesser;
}
