// What a host's page shows in Temporal's web UI. Markdown; pure.
import { atTime, inMarkdown } from '../../contracts/text/labels';
import type { HostState } from '../../contracts/schemas/remote-hosts';

const FOLDER_CHARACTERS = 1_000;

export function hostDetails({ host: name, status, since, reason, facts }: HostState): string {
  const lines = [`### Host ${inMarkdown(name)} is ${status}${reason ? `: ${inMarkdown(reason)}` : ''}`];
  lines.push(`since ${atTime(new Date(since))}`);
  if (facts) {
    const { access, version, root, sandbox } = facts;
    lines.push(
      `access ${inMarkdown(access)}, Holdfast ${inMarkdown(version)}, shells start in ${inMarkdown(root, FOLDER_CHARACTERS)}, ` +
        (sandbox === null ? 'no sandbox' : `sandbox ${inMarkdown(sandbox)}`),
    );
  }
  return lines.join('\n\n');
}
