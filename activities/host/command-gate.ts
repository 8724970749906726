// The host's check of a command before its shell gets it: the findings of the checks, and the policy's ruling on them.
import { createHash } from 'node:crypto';
import type { SessionRef } from '../../contracts/ids';
import type { CheckReport } from '../../contracts/tools/checks';
import type { HeldCommand } from '../../contracts/tools/approvals';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { RunCommandInput } from '../../contracts/sessions/host';
import { reasonsText, rulingOn, type PolicySettings } from '../../contracts/tools/policy';
import type { Runtime } from '../../contracts/sessions/session';
import type { AuditLog } from '../../exec/host/audit-log';

/** Produces the findings for a command's code. */
export interface CheckCode {
  check(command: { runtime: Runtime; code: string }): Promise<CheckReport>;
  /** Releases its resources. */
  close(): void;
}

export class CommandGate {
  constructor(
    private readonly checks: CheckCode,
    private readonly policy: () => PolicySettings,
    private readonly audit: AuditLog,
  ) {}

  /** Whether packages that a script imports are installed for it, if somebody approves where needed. */
  mayInstall({ agent, host }: SessionRef): boolean {
    const installs = { agent, host, verdicts: [], installs: 'a package' };
    return rulingOn(this.policy(), installs).decision !== 'deny';
  }

  /**
   * Null: it may run. A question is answered with a clearance for exactly this code, in this folder. Throws
   * `policy_denied`.
   * @param folder where it would begin
   */
  async held(input: RunCommandInput, folder: () => Promise<string | null>): Promise<HeldCommand | null> {
    const { ref, runtime, code, cleared, installs } = input;
    const { verdicts } = await this.checks.check({ runtime, code });
    const policy = this.policy();
    const { decision, reasons } = rulingOn(policy, { ...ref, verdicts, installs });
    if (decision === 'allow') return null;
    const place = { host: ref.host, cwd: await folder() };
    const hash = hashOf({ runtime, code, ...place });
    const why = reasons.map(({ rule }) => rule).join(', ');
    const entry = { what: 'a command', why, ...ref, hash };
    if (decision === 'deny') {
      this.audit.write({ ...entry, outcome: 'refused' });
      throw new HoldfastError('policy_denied', { reasons: reasonsText(reasons) });
    }
    const isCleared = cleared === hash;
    this.audit.write({ ...entry, outcome: isCleared ? 'approved' : 'held' });
    return isCleared ? null : { held: { hash, reasons, expiresMs: policy.askMs, place } };
  }
}

/** As JSON, so that different values never have the same text. */
export const hashOf = (what: object): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(what).sort(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex');
