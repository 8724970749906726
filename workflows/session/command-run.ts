// One command from its request to its end: held if the policy requires an approval, and preceded by installing what a
// script imports, one step per package.
import { fromFailure } from '../../contracts/errors/failure';
import type { RunCommandInput } from '../../contracts/sessions/host';
import { label } from '../../contracts/text/labels';
import type { CommandView, Runtime } from '../../contracts/sessions/session';
import type { HeldCommand } from '../../contracts/tools/approvals';
import { wholeValue } from '../../contracts/tools/shown-values';
import { quote } from '../../contracts/text/shell-word';
import type { Approvals } from '../messages/approvals';
import { runCommand } from '../host/host-activities';
import { wasNotRun } from '../../contracts/sessions/not-run';
import { refuse } from '../messages/refusal';
import { summaryOfCommand } from './session-labels';
import { bindToFolder, type RunningCommand } from './session-record';
import { endOf } from '../../contracts/text/well-formed';

/** Names as in the registries: nothing that a shell or an installer could misread. */
const PACKAGE = /^@?[A-Za-z0-9][A-Za-z0-9._/-]*$/;
const SHOWN_CHARACTERS = 1_500;

/** Id of the script's second run, once its packages are installed. */
export const idAgain = (commandId: string): string => `${commandId}/again`;

/** Runs from the start again after continue-as-new: the host knows what has already run, and returns its end. */
export class CommandRun {
  /** Hash of the code that a person has approved: it is not asked about a second time. */
  private cleared: string | undefined;

  constructor(
    private readonly approvals: Approvals,
    private readonly command: RunningCommand,
    private readonly input: RunCommandInput,
    /** Why no part of it may start any longer; null while it may. */
    private readonly over: () => string | null,
  ) {}

  /** Throws the host's errors, `approval_denied`, `approval_expired` and `install_failed`. */
  async toEnd(attached: boolean): Promise<CommandView> {
    const { command, input } = this;
    const view = await this.run(input, summaryOfCommand(command), attached);
    const missing = wasNotRun(view) ? (view.missing ?? []) : [];
    if (missing.length === 0 || !missing.every((one) => PACKAGE.test(one.package))) return view;
    for (const [index, { package: name }] of missing.entries()) {
      const commandId = `${command.id}/install/${index + 1}`;
      const code = installer(input.runtime, name);
      if (this.over() !== null) return view;
      try {
        // Separate code: the script's approval or reset does not apply to it.
        const { ref, workflowId, cwd, yield: yielding, resets, over } = input;
        const install = {
          ref,
          workflowId,
          cwd,
          yield: yielding,
          commandId,
          runtime: 'terminal' as const,
          code,
          ...(resets !== undefined && { resets }),
          ...(over !== undefined && { over }),
        };
        const installed = await this.run({ ...install, installs: name }, label(`install ${name}`), false);
        if (installed.exitCode !== 0) refuseInstalled(name, installed);
      } catch (err) {
        // The script's own output says what is missing and what to do.
        const why = fromFailure(err)?.code;
        if (why === 'policy_denied' || why === 'not_begun') return view;
        throw err;
      }
    }
    if (this.over() !== null) return view;
    const cleared = this.cleared === undefined ? {} : { cleared: this.cleared };
    const again = { ...input, ...cleared, commandId: idAgain(command.id), reset: false };
    try {
      return await this.run(again, summaryOfCommand(command), false);
    } catch (err) {
      if (fromFailure(err)?.code === 'not_begun') return view;
      throw err;
    }
  }

  private async run(input: RunCommandInput, summary: string, attached: boolean): Promise<CommandView> {
    const { commandId } = input;
    this.command.runId = commandId;
    for (let request = input; ;) {
      let answer: CommandView | HeldCommand;
      try {
        answer = await runCommand(request, {
          ...{ attached, summary, sentAt: this.command.startedAt },
          over: this.over,
        });
      } catch (err) {
        this.approvals.drop(commandId);
        throw err;
      }
      if (!('held' in answer)) {
        this.approvals.drop(commandId);
        return bindToFolder(request.ref, answer);
      }
      // Another command replaced it while the host checked it: an approval now would let it run after that one.
      const reason = this.over();
      if (reason !== null) refuse('approval_denied', { reason });
      const { ref, runtime: runs, code } = input;
      const asked = { agent: ref.agent, runs, values: [wholeValue('code', code)] };
      await this.approvals.ask({ id: commandId, what: summary, ...asked, ...answer.held });
      // It may have been approved just before.
      const late = this.over();
      if (late !== null) refuse('approval_denied', { reason: late });
      const { hash } = answer.held;
      if (code === this.input.code) this.cleared = hash;
      request = { ...input, cleared: hash };
    }
  }
}

function installer(runtime: Runtime, name: string): string {
  if (runtime === 'nodejs') return `npm install --no-fund --no-audit ${quote(name)}`;
  return `python3 -m pip install --disable-pip-version-check ${quote(name)}`;
}

const refuseInstalled = (name: string, { output }: CommandView): never =>
  refuse('install_failed', { got: name, reason: endOf(output.trim(), SHOWN_CHARACTERS) });
