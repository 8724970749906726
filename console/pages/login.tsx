// Asks for a token when there is no log-in, or it has ended.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { signIn, signInFault } from '../api/signed-in';

export function LoginPage(): VNode {
  const token = useSignal('');
  const submit = (event: Event): void => {
    event.preventDefault();
    void signIn(token.value.trim());
  };
  return (
    <main class="login">
      <h1>Holdfast</h1>
      <p>
        You are not logged in, or your log-in has ended. Run <code>holdfast ui</code> on the gateway’s machine
        and open its link, or enter a token from <code>holdfast token create</code>.
      </p>
      <form onSubmit={submit}>
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            required
            value={token}
            onInput={(event) => (token.value = event.currentTarget.value)}
          />
        </label>
        <button class="main" type="submit">
          Log in
        </button>
      </form>
      {signInFault.value && (
        <p class="problem" role="alert">
          {signInFault.value}
        </p>
      )}
    </main>
  );
}
