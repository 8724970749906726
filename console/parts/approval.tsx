// A pending approval: exactly what would run and where, beside the answer. What is approved is the hash of it.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { KeyedApproval } from '../../contracts/gateway/api';
import { useAction } from '../api/actions';
import { draftOf } from '../api/drafts';
import { callApi, pathOf, type ProblemText } from '../api/call-api';
import { Reading } from '../api/load';
import { mayAct } from '../api/signed-in';
import { Code } from '../text/code';
import { languageOf } from '../text/code-language';
import { exactLine, ExactLine, ExactText } from '../text/exact-text';
import { bytes, ProblemNote, Since } from './notes';

export function ApprovalCard({ approval }: { approval: KeyedApproval }): VNode {
  const { whole, isWhole, problem } = useWhole(approval);
  const shown = whole ?? approval;
  const runtime = shown.values?.find(({ name }) => name === 'runtime')?.text;
  return (
    <>
      <dl class="facts">
        <dt>Runs</dt>
        <dd>
          <ExactLine text={shown.runs ?? 'a command'} />
        </dd>
        <dt>Host</dt>
        <dd>
          <ExactLine text={shown.place?.host ?? 'not known'} />
        </dd>
        <dt>Folder</dt>
        <dd>
          {shown.place?.cwd ? <ExactLine text={shown.place.cwd} /> : 'where the host starts its shells'}
        </dd>
        <dt>Why</dt>
        <dd>
          {shown.reasons.map(({ rule, found }) => (
            <div key={rule + found}>
              <ExactLine text={rule} />: <ExactText text={found} />
            </div>
          ))}
        </dd>
        <dt>Hash</dt>
        <dd>
          <code class="hash">{shown.hash}</code>
        </dd>
      </dl>
      {(shown.values ?? [{ name: 'code', text: shown.what, bytes: shown.what.length, omitted: 0 }]).map(
        ({ name, text, bytes: size, omitted }) => (
          <section key={name}>
            <p class="name">
              <ExactLine text={name} /> <span class="quiet">{bytes(size)}</span>
            </p>
            <Code
              text={text}
              language={languageOf({ runs: shown.runs ?? '', name, runtime })}
              label={exactLine(`${name} of ${approval.agent ?? 'the agent'}`)}
            />
            {omitted > 0 && (
              <p class="quiet">
                {omitted} characters are {isWhole ? 'not shown' : 'not here yet'}.
              </p>
            )}
          </section>
        ),
      )}
      <ProblemNote problem={problem} />
      {mayAct() ? (
        <Answer key={shown.hash} approval={shown} isWhole={isWhole} />
      ) : (
        <p class="quiet">Answering needs the role operator.</p>
      )}
    </>
  );
}

interface Whole {
  /** Null before it has been read, and for one that came whole. */
  whole: KeyedApproval | null;
  /** Nothing more can be shown: what is left out by now may be a password, or was not kept. */
  isWhole: boolean;
  problem: ProblemText | null;
}

/** A long one comes cut; it need not be approved unseen. */
function useWhole(approval: KeyedApproval): Whole {
  const read = useSignal<KeyedApproval | null>(null);
  const problem = useSignal<ProblemText | null>(null);
  // The same command may be asked about again: for another folder, or for other reasons.
  const { key, hash, askedAt } = approval;
  const isCut = approval.values?.some(({ omitted }) => omitted > 0) ?? true;
  useEffect(() => {
    if (!isCut) return undefined;
    const ask = (signal: AbortSignal): Promise<KeyedApproval> =>
      callApi('GET', pathOf('approvals', key), undefined, { signal });
    const reading = new Reading(ask, {
      answer: (answer) => {
        read.value = answer;
        problem.value = null;
      },
      problem: (found) => (problem.value = found),
    });
    return () => reading.end();
  }, [key, hash, askedAt, isCut]);
  const isOfIt = read.value?.hash === hash && read.value.askedAt === askedAt;
  const whole = isOfIt ? read.value : null;
  return { whole, isWhole: whole !== null || !isCut, problem: problem.value };
}

function Answer({ approval, isWhole }: { approval: KeyedApproval; isWhole: boolean }): VNode {
  const { isRunning, problem, run } = useAction();
  const forSession = useSignal(false);
  const { hash, key } = approval;
  const reason = draftOf('reason', key);
  const approve = (): Promise<unknown> =>
    callApi('POST', `${pathOf('approvals', key)}/approve`, {
      hash,
      scope: forSession.value ? 'session' : 'once',
    });
  const deny = (): Promise<unknown> =>
    callApi('POST', `${pathOf('approvals', key)}/deny`, reason.value ? { reason: reason.value } : {});
  return (
    <>
      <div class="answer">
        <button
          class="main"
          type="button"
          disabled={!isWhole || isRunning.value}
          onClick={() => void run(approve)}
        >
          Approve
        </button>
        <label class="check">
          <input
            type="checkbox"
            checked={forSession}
            onChange={(event) => (forSession.value = event.currentTarget.checked)}
          />
          and the same rules for this session
        </label>
        <span class="space" />
        <input
          class="reason"
          aria-label="Reason for denying; the model reads it"
          placeholder="Reason, which the model reads"
          value={reason}
          onInput={(event) => (reason.value = event.currentTarget.value)}
        />
        <button class="danger" type="button" disabled={isRunning.value} onClick={() => void run(deny)}>
          Deny
        </button>
      </div>
      <p class="quiet">
        Waiting for <Since at={approval.askedAt} />. Without an answer it is denied at{' '}
        {new Date(approval.expiresAt).toLocaleTimeString()}.
      </p>
      <ProblemNote problem={problem.value} />
    </>
  );
}
