// What Temporal's web UI makes of our pages: its server renders Markdown with HTML in it. Whatever a model, a program, a
// host or a person wrote there stays text.
import { asSummary, inMarkdown } from '../../../../contracts/text/labels';
import { enginePaths } from '../../../../engine/record';
import { uiToken } from '../../../../engine/ui-guard/ui-token';
import { agentDetails, endedTurnDetails, turnDetails } from '../../../../workflows/agent/agent-labels';
import { approvalDetails, questionDetails } from '../../../../workflows/messages/approval-labels';
import { hostDetails } from '../../../../workflows/host/host-labels';
import { detailsOf, detailsOfStart } from '../../../../workflows/session/session-labels';
import type { RunningCommand } from '../../../../workflows/session/session-record';
import { AGENT, HOST, NOW, QUESTION, RESULT, VIEW } from '../../../helpers/hostile/hostile-answers';
import { hostile, HOSTILE, TEXT, type Whole } from '../../../helpers/hostile/hostile-texts';

const SHORT =
  'evil <img src=http://evil.example/p onerror=alert(1)> <a href="http://evil.example">x</a> <script>alert(1)</script>';
const MARKS =
  '**bold** _i_ ~~s~~ [l](http://evil.example) ![p](http://evil.example/p) http://evil.example `c` &lt; $x$ a\\*b';
const BLOCKS = '# h\n\n- item\n\n1. one\n\n> q\n\n| a |\n|---|\n| b |\n\n~~~\n```\n````\n<!-- --><b>';
/** Each at the beginning of a text, because a heading and a table begin there, and because labels are short. */
const TEXTS = [SHORT, MARKS, ...BLOCKS.split('\n\n'), BLOCKS, `</pre></code>${SHORT}`, HOSTILE];

const since = new Date(NOW);
const command: Whole<RunningCommand> = {
  id: TEXT,
  runtime: 'terminal',
  code: TEXT,
  startedAt: 1,
  yield: { firstOutputMs: 1, betweenOutputMs: 1, maxMs: 1, promptMs: 1 },
  yielded: VIEW,
  trouble: { code: 'session_lost', facts: { reason: TEXT } },
  reset: true,
  checkImports: true,
  runId: TEXT,
  resets: 1,
  over: TEXT,
};

/** Times and our own ids stay; a view's and a result's words are the host's and the turn's. */
const KEPT = [NOW, 'a', 'a-x-0', 'local', 'idle', 'ended', 'offline'];

const PAGES: Record<string, (text: string) => string> = {
  'a workflow’s summary': asSummary,
  'a workflow’s details': (text) => inMarkdown(text, 2_000),
  'a session that has just begun a command': (text) => detailsOfStart(filled(command, text)),
  'a session whose command is held': (text) => detailsOfStart(filled(command, text), true),
  'what waits for an approval': (text) => approvalDetails([filled(QUESTION, text)]),
  'what waits for an approval elsewhere': (text) => questionDetails([filled(QUESTION, text)], text),
  'an agent between turns': (text) => agentPage('idle', text),
  'an agent that has ended': (text) => agentPage('ended', text),
  'a turn': (text) =>
    turnDetails({
      agent: 'a',
      host: 'local',
      namespace: text,
      step: 1,
      maxSteps: 2,
      doing: text,
      since,
      headline: text,
      thoughts: [text],
      sessions: new Map([
        [0, { calledAt: 1, seenAt: 1, fact: text, isWaiting: false }],
        [1, { calledAt: 1, seenAt: 0, fact: `waiting for ${text}`, isWaiting: true }],
      ]),
      forPeople: [1],
    }),
  'a turn that has ended': (text) => endedTurnDetails(filled(RESULT, text)),
  'a host': (text) => hostDetails(filled(HOST, text)),
  ...Object.fromEntries(
    (['waiting_input', 'running', 'exited', 'lost', 'no state of ours'] as const).map((state) => [
      `a session, ${state}`,
      (text: string): string => detailsOf({ ...filled(VIEW, text), state: state as 'lost' }, since),
    ]),
  ),
};

const filled = <T>(sample: T, text: string): T =>
  hostile(sample, 'untyped', { kept: KEPT, text, said: text });

function agentPage(status: 'idle' | 'ended', text: string): string {
  const [below] = AGENT.agents;
  const ours = { agent: 'a', host: 'local', status, agents: [{ ...below, agentId: 'a-x-0' }] };
  return agentDetails({ state: filled({ ...AGENT, ...ours }, text), namespace: text, message: text, since });
}

const token = (): string => uiToken(enginePaths(process.env.HOLDFAST_TEST_DATA ?? '').uiAuthorization);

/** As the server renders it. */
async function rendered(markdown: string): Promise<string> {
  const address = `${process.env.HOLDFAST_TEST_UI}/render?content=${encodeURIComponent(markdown)}`;
  const response = await fetch(address, { headers: { authorization: `Bearer ${token()}` } });
  const [, main] = /<main>([^]*)<\/main>/.exec(await response.text()) ?? [];
  if (main === undefined) throw new Error(`not rendered: ${response.status}`);
  return main;
}

/** Paragraphs, headings, lists, code, and links to pages of workflows. */
const OURS =
  /<h3 id="[\w-]*">|<\/?(?:p|h3|ul|li|pre|code|strong|br)(?: class="language-\w*")?\s*\/?>|<a href="\/namespaces\/[^"<>]*"[^<>]*>|<\/a>/g;

test('the server renders unescaped text as HTML, which this test would notice', async () => {
  const main = await rendered([SHORT, MARKS, BLOCKS].join('\n\n'));
  for (const tag of ['<img', '<script', '<table', '<h1', '<em>', '<a href="http'])
    expect(main).toContain(tag);
  expect(main.replace(OURS, '')).toMatch(/<img/);
});

test.each(Object.keys(PAGES))('what others have written stays text on the page of %s', async (page) => {
  for (const text of TEXTS) {
    const markdown = PAGES[page]?.(text) ?? '';
    const left = (await rendered(markdown)).replace(OURS, '');
    expect([text, left.match(/<[^>]*>?/g)]).toEqual([text, null]);

    expect([text, left.match(/[^\x20-\x7e\n\t…“”\ufffd]/g)]).toEqual([text, null]);
  }
});
