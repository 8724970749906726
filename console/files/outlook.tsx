// What a rewind would do: to files, to what the model sees, and what stands in its way.
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { FileChanges } from '../../contracts/workspaces/checkpoints';
import { ExactLine } from '../text/exact-text';
import { changedIn, countsText, sessionsText } from '../../contracts/workspaces/change-texts';
import { notRestoredWords } from './change-words';
import { ChangedPath } from './changes';
import type { Outlook } from './rewind-requests';
import { howMany } from '../text/how-many';

interface OutlookProps {
  of: Outlook;
  isEnded: boolean;
  /** Whether what runs in its sessions is to be ended first. */
  stop: Signal<boolean>;
}

export function OutlookView({ of: { result, conflict }, isEnded, stop }: OutlookProps): VNode {
  const { files, messages, running } = result;
  return (
    <>
      {files && <FilesThen changes={files.changes} />}
      {files?.notRestored && (
        <p>
          <ExactLine text={notRestoredWords(files.notRestored)} />. It would stay so.
        </p>
      )}
      {messages !== null && (
        <p>
          The model would no longer see {howMany(messages, 'message')}. They stay in this list, marked as
          taken back.
        </p>
      )}
      {running.length > 0 && (
        <>
          <p>Commands run in {sessionsText(running)}, and may change files again.</p>
          {!isEnded && (
            <label class="check">
              <input
                type="checkbox"
                checked={stop.value}
                onChange={(event) => (stop.value = event.currentTarget.checked)}
              />{' '}
              end what runs in its sessions first
            </label>
          )}
        </>
      )}
      {conflict && (
        <div class="problem" role="alert">
          Somebody else{conflict.facts?.running ? `, or what runs in ${String(conflict.facts.running)},` : ''}{' '}
          has changed files that this would change ({String(conflict.facts?.count ?? 'some')}):{' '}
          <bdi class="path">
            <ExactLine text={String(conflict.facts?.got ?? '')} />
          </bdi>
          . <span class="next">Look at them first: they would be as they were then.</span>
        </div>
      )}
    </>
  );
}

function FilesThen({ changes: { counts, paths, omitted } }: { changes: FileChanges }): VNode {
  if (changedIn(counts) === 0) return <p>No file would change.</p>;
  return (
    <>
      <p>Files that would change: {countsText(counts)}.</p>
      <ul class="plain-list file-list" tabIndex={0} aria-label="Files that would change">
        {paths.map((change) => (
          <li key={change.path}>
            <ChangedPath change={change} />
          </li>
        ))}
      </ul>
      {omitted > 0 && <p class="quiet">{omitted} more are not listed.</p>}
    </>
  );
}
