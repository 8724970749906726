// The policy's ruling on tool calls. It is written into a call when the call is accepted, because workflows know no
// policy; the tool's host checks once more before it runs the tool.
import type { Place, ToolHold } from '../../contracts/tools/approvals';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { isAbsolutePath } from '../../contracts/ids';
import { asJson } from '../../contracts/text/as-json';
import { label } from '../../contracts/text/labels';
import { reasonsText, rulingOnTool, type PolicySettings } from '../../contracts/tools/policy';
import { argumentsOf, cutValues } from '../../contracts/tools/shown-values';
import { resolvedFolder } from '../../exec/working-folder';
import type { ToolRegistry } from '../../tools/registry';
import type { Tool } from '../../tools/tool';
import { hashOf, type CheckCode } from '../host/command-gate';

/** A call as it would run. */
export interface RuledCall {
  agent: string;
  tool: string;
  args: unknown;
  place: Place;
}

export class ToolRulings {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly policy: () => PolicySettings,
    private readonly checks: CheckCode,
    /** With the folder that the place's path leads to now, where this machine knows it. */
    private readonly resolved: (place: Place) => Place = (place) => place,
  ) {}

  /** Empty if the call may run. */
  async of({ agent, tool: name, args, ...call }: RuledCall): Promise<{ hold?: ToolHold; denied?: string }> {
    const place = this.resolved(call.place);
    const { code, fault } = await this.commandLine(name, args);
    // What cannot be checked may not run.
    if (fault !== undefined) return { denied: `the command of ${name} is not known: ${fault}` };
    const report = code === undefined ? undefined : await this.checks.check({ runtime: 'terminal', code });
    const policy = this.policy();
    const command = report && { agent, host: place.host, verdicts: report.verdicts };
    const { decision, reasons } = rulingOnTool(policy, name, command);
    if (decision === 'allow') return {};
    if (decision === 'deny') return { denied: reasonsText(reasons) };
    const hash = hashOf({ tool: name, args, ...place });
    const secret = this.find(name)?.secret === true;
    const rest = { hash, reasons, expiresMs: policy.askMs, place, ...(secret && { secret }) };
    return { hold: { what: this.shown(name, args), ...rest } };
  }

  /** Why it may not run here: the policy forbids it, or it was not approved in exactly this form. */
  async refusal(call: RuledCall, approved: ToolHold | undefined): Promise<HoldfastError | undefined> {
    const { hold, denied } = await this.of(call);
    if (denied !== undefined) return new HoldfastError('policy_denied', { reasons: denied });
    if (!hold || hold.hash === approved?.hash) return undefined;
    return new HoldfastError('policy_denied', { reasons: `${NOT_ASKED}: ${reasonsText(hold.reasons)}` });
  }

  /**
   * Like `refusal`, for a caller that can ask for an approval: what still has to be approved. The policy here decides,
   * whatever another machine's policy had approved: the same call in the same place, for all the reasons here.
   */
  async recheck(
    call: RuledCall,
    approved: ToolHold | undefined,
  ): Promise<{ held?: ToolHold; refused?: HoldfastError }> {
    const { hold, denied } = await this.of(call);
    if (denied !== undefined) return { refused: new HoldfastError('policy_denied', { reasons: denied }) };
    return hold && !covers(approved, hold) ? { held: hold } : {};
  }

  /** Without the arguments of a tool that may receive a password. */
  private shown(name: string, args: unknown): string {
    return label(this.find(name)?.secret ? name : `${name} ${JSON.stringify(args)}`, SHOWN_CHARACTERS);
  }

  /** Empty for a tool that runs no command, and for arguments that the tool itself will refuse. */
  private async commandLine(name: string, args: unknown): Promise<{ code?: string; fault?: string }> {
    const tool = this.find(name);
    if (!tool?.commandLine) return {};
    try {
      const code: unknown = tool.commandLine(await this.tools.check(tool, args));
      if (code === undefined) return {};
      return typeof code === 'string' ? { code } : { fault: `its \`commandLine\` gave ${asJson(code)}` };
    } catch (err) {
      if (err instanceof HoldfastError && err.code === 'invalid_input') return {};
      return { fault: reasonOf(err) };
    }
  }

  private find(name: string): Tool | undefined {
    return known(() => this.tools.find(name));
  }
}

/** On the machine of a host: its paths lead somewhere here. */
export const resolvedOn =
  (host: string | null) =>
  (place: Place): Place =>
    place.host === host && place.cwd !== null && isAbsolutePath(place.cwd)
      ? { ...place, cwd: resolvedFolder(place.cwd) }
      : place;

/** For arguments that are not sent with the call: with what the approver is shown of them. */
export const showingArguments = (hold: ToolHold, args: unknown): ToolHold => ({
  ...hold,
  values: cutValues(argumentsOf(args, hold.secret)),
});

const covers = (approved: ToolHold | undefined, hold: ToolHold): boolean =>
  approved?.hash === hold.hash &&
  hold.reasons.every(({ rule }) => approved.reasons.some((reason) => reason.rule === rule));

function known<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (err) {
    if (err instanceof HoldfastError) return undefined;
    throw err;
  }
}

const SHOWN_CHARACTERS = 300;
const NOT_ASKED =
  'it must be approved with the arguments that it will run with, not with references; ' +
  'if it has none, the policy of the agents’ worker must ask about it, too';
