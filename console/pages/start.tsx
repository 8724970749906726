// Starts an agent.
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { useAction } from '../api/actions';
import { draftOf } from '../api/drafts';
import { once } from '../api/once';
import { linkTo } from '../api/place';
import { ProblemNote } from '../parts/notes';

const MODEL_KEY = 'holdfast.model';
const FURTHER = ['id', 'host', 'cwd', 'instructions'];

const draft = (name: string): Signal<string> => draftOf('start', name);
const begun = (name: string): string => draft(name).peek();

export function StartPage(): VNode {
  const { isRunning, problem, run } = useAction();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    void run(() => startAgent(form));
  };
  const keep = ({ target }: Event): void => {
    const { name, value } = target as HTMLInputElement | HTMLTextAreaElement;
    draft(name).value = value;
  };
  return (
    <>
      <h1>Start an agent</h1>
      <form class="sheet" onSubmit={submit} onInput={keep}>
        <label>
          Task
          <textarea name="task" rows={5} placeholder="What it should do" defaultValue={begun('task')} />
        </label>
        <label>
          Model
          <input
            name="model"
            required
            placeholder="provider:name"
            defaultValue={begun('model') || (localStorage.getItem(MODEL_KEY) ?? '')}
          />
        </label>
        <ModeChoice />
        <FurtherSettings />
        <ProblemNote problem={problem.value} />
        <button class="main" type="submit" disabled={isRunning.value}>
          Start
        </button>
      </form>
    </>
  );
}

/** Starts what the form describes, forgets the drafts, and shows the agent. */
async function startAgent(form: FormData): Promise<void> {
  const text = (name: string): string => {
    const value = form.get(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  const given = (...names: string[]): Record<string, string> =>
    Object.fromEntries(
      names.map((name): [string, string] => [name, text(name)]).filter(([, value]) => value !== ''),
    );
  const body = { model: text('model'), ...given('task', 'mode', ...FURTHER) };
  const { agent } = await once<{ agent: string }>('/v1/agents', body);
  localStorage.setItem(MODEL_KEY, body.model);
  for (const name of form.keys()) draft(name).value = '';
  location.hash = linkTo('agents', agent);
}

const ModeChoice = (): VNode => (
  <fieldset>
    <legend>When it has answered</legend>
    <label class="check">
      <input type="radio" name="mode" value="conversation" defaultChecked={begun('mode') !== 'task'} /> it
      waits for another message
    </label>
    <label class="check">
      <input type="radio" name="mode" value="task" defaultChecked={begun('mode') === 'task'} /> it ends
    </label>
  </fieldset>
);

/** Open from the start if one of them was begun. */
function FurtherSettings(): VNode {
  const isOpen = useMemo(() => FURTHER.some((name) => begun(name) !== ''), []);
  return (
    <details open={isOpen}>
      <summary>More settings</summary>
      <label>
        Id
        <input name="id" placeholder="chosen by the gateway" defaultValue={begun('id')} />
      </label>
      <label>
        Host
        <input name="host" placeholder="local" defaultValue={begun('host')} />
      </label>
      <label>
        Folder
        <input name="cwd" placeholder="where the host starts its shells" defaultValue={begun('cwd')} />
      </label>
      <label>
        Instructions
        <textarea name="instructions" rows={3} defaultValue={begun('instructions')} />
      </label>
    </details>
  );
}
