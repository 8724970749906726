// What the policy says of a tool call, written into the call: workflows know no policy.
import { createHash } from 'node:crypto';
import { reasonsText, rulingOnTool, type PolicySettings } from '../contracts/policy';
import type { ToolHold } from '../contracts/approvals';

/** Nothing where it may run. */
export function toolRuling(
  policy: PolicySettings,
  tool: string,
  args: unknown,
): { hold?: ToolHold; denied?: string } {
  const { decision, reasons } = rulingOnTool(policy, tool);
  if (decision === 'allow') return {};
  if (decision === 'deny') return { denied: reasonsText(reasons) };
  const hash = createHash('sha256')
    .update(`${tool}\0${JSON.stringify(args)}`)
    .digest('hex');
  return { hold: { hash, reasons, expiresMs: policy.askMs } };
}
