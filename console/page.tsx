// The frame around every page: where one can go, what waits, and whether what is shown is up to date.
import type { VNode } from 'preact';
import { useAction } from './api/actions';
import { isSignedIn } from './api/call-api';
import { isOnline } from './api/event-streams';
import { inbox, overviewTrouble, unreadNamespaces } from './api/overview';
import { linkTo, place } from './api/place';
import { me, signOut } from './api/signed-in';
import { AgentPage } from './pages/agent';
import { AgentsPage } from './pages/agents';
import { HostsPage } from './pages/hosts';
import { InboxPage } from './pages/inbox';
import { LoginPage } from './pages/login';
import { StartPage } from './pages/start';
import { TerminalsPage } from './pages/terminals';
import { ToolsPage } from './pages/tools';
import { UsagePage } from './pages/usage';
import { ProblemNote } from './parts/notes';
import { SoundSwitch } from './parts/sound';

const PAGES: { name: string; title: string; page: () => VNode }[] = [
  { name: 'inbox', title: 'Inbox', page: InboxPage },
  { name: 'agents', title: 'Agents', page: AgentsPage },
  { name: 'terminals', title: 'Terminals', page: TerminalsPage },
  { name: 'hosts', title: 'Hosts', page: HostsPage },
  { name: 'tools', title: 'Tools', page: ToolsPage },
  { name: 'usage', title: 'Usage', page: UsagePage },
];

export function Page(): VNode {
  if (isSignedIn.value === null) return <p class="empty">Connecting…</p>;
  if (!isSignedIn.value) return <LoginPage />;
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        Skip to content
      </a>
      <Head />
      {!isOnline.value && (
        <p class="offline" role="status">
          Not connected to the gateway: what you see may be old. Trying again; the page catches up by itself.
        </p>
      )}
      <Trouble />
      <main id="content" tabIndex={-1}>
        <Content />
      </main>
    </>
  );
}

/** The gateway answers, and cannot look at all that it shows. */
function Trouble(): VNode | null {
  const { inbox: ofInbox, agents } = overviewTrouble.value;
  const unread = unreadNamespaces.value;
  if (ofInbox !== null || agents !== null)
    return (
      <p class="offline" role="status">
        The gateway cannot read{' '}
        {[ofInbox && 'what waits', agents && 'which agents are open'].filter(Boolean).join(' and ')} now (
        {ofInbox ?? agents}): what you see may be old. It tries again by itself.
      </p>
    );
  if (unread.length === 0) return null;
  return (
    <p class="offline" role="status">
      What waits on some hosts is missing here: their namespaces cannot be read now ({unread.join(', ')}).
    </p>
  );
}

/** The fragment is where the person is; it stays. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function Head(): VNode {
  const [here] = place.value.parts;
  const { problem, run } = useAction();
  const waiting = inbox.value?.length ?? 0;
  return (
    <header class="head">
      <a class="brand" href={linkTo('inbox')}>
        Holdfast
      </a>
      <nav aria-label="Pages">
        {PAGES.map(({ name, title }) => (
          <a key={name} href={linkTo(name)} aria-current={here === name ? 'page' : undefined}>
            {title}
            {name === 'inbox' && waiting > 0 && (
              <span class="count" aria-label={`${waiting} waiting`}>
                {waiting}
              </span>
            )}
          </a>
        ))}
      </nav>
      <span class="who">
        <span title={`namespace ${me.value?.namespace ?? ''}, release ${me.value?.release.version ?? ''}`}>
          {me.value?.name} <span class="quiet">({me.value?.role})</span>
        </span>
        <SoundSwitch />
        <button class="plain" type="button" onClick={() => void run(signOut)}>
          Log out
        </button>
      </span>
      <ProblemNote problem={problem.value} />
    </header>
  );
}

function Content(): VNode {
  const [name, id] = place.value.parts;
  if (name === 'agents' && id !== undefined) return <AgentPage key={id} id={id} />;
  if (name === 'start') return <StartPage />;
  const Found = PAGES.find((one) => one.name === name)?.page ?? InboxPage;
  return <Found />;
}
