// Which commands and tool calls run at once, which need an approval, which are refused. Pure.
import type { Decision, PolicyReason } from './approvals';
import type { CheckRule, Verdict } from './checks';
import { isBelow } from '../agents/sub-agents';

/** What can be found in a command, and installing a package that it imports but does not declare. */
export type PolicyRule = CheckRule | 'install';

export interface PolicySettings {
  rules: Readonly<Record<PolicyRule, Decision>>;
  /** By name, for models and scripts alike. */
  tools: Readonly<Record<string, Decision>>;
  /** Every command on these hosts, of sessions and of tools. */
  hosts: Readonly<Record<string, Decision>>;
  /** Every command of these agents and of their sub-agents. */
  agents: Readonly<Record<string, Decision>>;
  /** After this many milliseconds an approval is denied. */
  askMs: number;
}

/** Defaults: placeholders are refused, what destroys or leaks needs an approval, nothing is installed. */
export const DEFAULT_RULES: Readonly<Record<PolicyRule, Decision>> = {
  placeholder: 'deny',
  destructive: 'ask',
  remote_code: 'ask',
  exfiltration: 'ask',
  install: 'deny',
};

/** A person needs time to look; an agent must not wait for days. */
export const DEFAULT_ASK_MS = 3_600_000;

export const DEFAULT_POLICY: PolicySettings = {
  rules: DEFAULT_RULES,
  tools: {},
  hosts: {},
  agents: {},
  askMs: DEFAULT_ASK_MS,
};

export interface Ruling {
  decision: Decision;
  /** The reasons for the decision. */
  reasons: PolicyReason[];
}

/** What the policy looks at in a command. */
export interface RuledCommand {
  agent: string;
  host: string;
  verdicts: readonly Verdict[];
  installs?: string | undefined;
}

/** The decision about a command, from what was found in it and where it will run. The strictest rule wins. */
export const rulingOn = (policy: PolicySettings, command: RuledCommand): Ruling =>
  strictest(foundIn(policy, command));

/** The decision about a tool call, from the tool's name and the command that it runs, if it runs one. */
export const rulingOnTool = (
  policy: PolicySettings,
  tool: string,
  command: RuledCommand | undefined,
): Ruling =>
  strictest([
    [own(policy.tools, tool), { rule: `tool ${tool}`, found: 'every call to it' }],
    ...(command ? foundIn(policy, command) : []),
  ]);

type Found = [Decision | undefined, PolicyReason];

function foundIn(
  { rules, hosts, agents }: PolicySettings,
  { agent, host, verdicts, installs }: RuledCommand,
): Found[] {
  const found: Found[] = verdicts.map((verdict) => [
    rules[verdict.rule],
    { rule: verdict.rule, found: placeOf(verdict) },
  ]);
  if (installs !== undefined)
    found.push([rules.install, { rule: 'install', found: `${installs}, which the script imports` }]);
  found.push([own(hosts, host), { rule: `host ${host}`, found: 'every command there' }]);
  // An agent cannot avoid an approval by having a sub-agent run the command.
  for (const [name, decision] of Object.entries(agents))
    if (name === agent || isBelow(agent, name))
      found.push([decision, { rule: `agent ${name}`, found: 'every command it runs' }]);
  return found;
}

function strictest(found: readonly Found[]): Ruling {
  const of = (decision: Decision): PolicyReason[] =>
    found.flatMap(([one, reason]) => (one === decision ? [reason] : []));
  const denied = of('deny');
  if (denied.length > 0) return { decision: 'deny', reasons: denied };
  const asked = of('ask');
  return asked.length > 0 ? { decision: 'ask', reasons: asked } : { decision: 'allow', reasons: [] };
}

const own = (table: Readonly<Record<string, Decision>>, key: string): Decision | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

const placeOf = ({ line, column, found, reason }: Verdict): string =>
  `line ${line}, column ${column}: ${found}: ${reason}`;

/** For the message of an error. */
export const reasonsText = (reasons: readonly PolicyReason[]): string =>
  reasons.map(({ rule, found }) => `${rule} (${found})`).join('; ');
