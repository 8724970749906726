// Who is logged in. The token of a link is in the fragment, which no server sees, and leaves the address bar at once.
import { signal } from '@preact/signals';
import type { Me } from '../../contracts/gateway/api';
import { ApiProblem, callApi, isSignedIn, problemOf } from './call-api';
import { followOverview } from './overview';

const TOKEN = /^#token=(.+)$/;

export const me = signal<Me | null>(null);
export const signInFault = signal<string | null>(null);

export const mayAct = (): boolean => me.value !== null && me.value.role !== 'viewer';

/** With the token of the link, if there is one; otherwise with the cookie. */
export async function signIn(token: string | null = takeToken()): Promise<void> {
  signInFault.value = null;
  try {
    if (token !== null) await callApi('POST', '/v1/login', { token });
  } catch (err) {
    const { detail, next } = problemOf(err);
    signInFault.value = `${detail} ${next}`;
  }
  await recognize();
}

async function recognize(): Promise<void> {
  try {
    me.value = await callApi<Me>('GET', '/v1/me');
    isSignedIn.value = true;
    signInFault.value = null;
    followOverview(me.value);
  } catch (err) {
    me.value = null;
    // The page asks for a log-in: that is no fault.
    if (err instanceof ApiProblem && err.status === 401) return;
    signInFault.value = problemOf(err).detail;
    isSignedIn.value = false;
  }
}

// A link that is opened in a tab where the page is already only changes the fragment.
addEventListener('hashchange', () => {
  if (TOKEN.test(location.hash)) void signIn();
});
// Another tab may have logged in meanwhile.
document.addEventListener('visibilitychange', () => {
  if (document.hidden || isSignedIn.value !== false) return;
  signInFault.value = null;
  void recognize();
});

/** Throws `ApiProblem`; then the log-in may still be there. */
export async function signOut(): Promise<void> {
  await callApi('POST', '/v1/logout').catch((err: unknown) => {
    if (isSignedIn.value !== false) throw err;
  });
  location.hash = '';
  location.reload();
}

function takeToken(): string | null {
  const [, token] = TOKEN.exec(location.hash) ?? [];
  if (token === undefined) return null;
  history.replaceState(null, '', location.pathname);
  return decodeURIComponent(token);
}

/** The workflow's page in Temporal's UI; null if none is known. */
export const temporalLink = (workflowId: string): string | null =>
  me.value?.temporalUi?.replace('{workflowId}', encodeURIComponent(workflowId)) ?? null;
