// Starts an agent.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useAction } from '../api/actions';
import { callApi } from '../api/call-api';
import { linkTo } from '../api/place';
import { ProblemNote } from '../parts/notes';

const MODEL_KEY = 'holdfast.model';

export function StartPage(): VNode {
  const { isRunning, problem, run } = useAction();
  // The same form sent twice starts one agent.
  const key = useSignal(crypto.randomUUID());
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string): string => {
      const value = form.get(name);
      return typeof value === 'string' ? value.trim() : '';
    };
    const given = (...names: string[]): Record<string, string> =>
      Object.fromEntries(
        names.map((name): [string, string] => [name, text(name)]).filter(([, value]) => value !== ''),
      );
    void run(async () => {
      const body = { model: text('model'), ...given('task', 'mode', 'id', 'host', 'cwd', 'instructions') };
      const { agent } = await callApi<{ agent: string }>('POST', '/v1/agents', body, { key: key.value });
      localStorage.setItem(MODEL_KEY, body.model);
      location.hash = linkTo('agents', agent);
    });
  };
  const changed = (): void => void (key.value = crypto.randomUUID());
  return (
    <>
      <h1>Start an agent</h1>
      <form class="sheet" onSubmit={submit} onInput={changed}>
        <label>
          Task
          <textarea name="task" rows={5} placeholder="What it should do" />
        </label>
        <label>
          Model
          <input
            name="model"
            required
            placeholder="provider:name"
            defaultValue={localStorage.getItem(MODEL_KEY) ?? ''}
          />
        </label>
        <fieldset>
          <legend>When it has answered</legend>
          <label class="check">
            <input type="radio" name="mode" value="conversation" defaultChecked /> it waits for another
            message
          </label>
          <label class="check">
            <input type="radio" name="mode" value="task" /> it ends
          </label>
        </fieldset>
        <details>
          <summary>More settings</summary>
          <label>
            Id
            <input name="id" placeholder="chosen by the gateway" />
          </label>
          <label>
            Host
            <input name="host" placeholder="local" />
          </label>
          <label>
            Folder
            <input name="cwd" placeholder="where the host starts its shells" />
          </label>
          <label>
            Instructions
            <textarea name="instructions" rows={3} />
          </label>
        </details>
        <ProblemNote problem={problem.value} />
        <button class="main" type="submit" disabled={isRunning.value}>
          Start
        </button>
      </form>
    </>
  );
}
