// Asks for a token when there is no log-in, or it has ended.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { VNode } from 'preact';
import { callApi } from '../api/call-api';
import { signIn, signInFault } from '../api/signed-in';

interface Issuer {
  name: string;
  path: string;
}

/** The issuer brings the person back to the same place. */
const beginAt = ({ path }: Issuer): string =>
  location.hash.startsWith('#/') ? `${path}?next=${encodeURIComponent(location.hash.slice(2))}` : path;

export function LoginPage(): VNode {
  const token = useSignal('');
  const issuer = useSignal<Issuer | null>(null);
  useEffect(() => {
    // Where it cannot be asked, a token still logs in.
    void callApi<{ oidc: Issuer | null }>('GET', '/v1/login').then(
      ({ oidc }) => (issuer.value = oidc),
      () => undefined,
    );
  }, []);
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
      {issuer.value && (
        <p>
          <a class="button main" href={beginAt(issuer.value)}>
            Log in with {issuer.value.name}
          </a>
        </p>
      )}
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
