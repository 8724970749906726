// The page in real Chromium, on a real gateway, worker and shells.
import { ConsolePage, pageSetting } from '../../helpers/gateway/console';
import { gatewayOn } from '../../helpers/gateway/gateway';
import { call, QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { freePort } from '../../helpers/free-port';
import { until } from '../../helpers/until';

const setting = pageSetting({ config: '[policy.agents]\n"held" = "ask"\n' });
const { engine, files } = setting;

const run = (agent: string, code: string): Promise<unknown> =>
  setting.operator.post(`/v1/sessions/${agent}/local/0/exec`, {
    code,
    yield: { ...QUICK_YIELD, promptMs: 100 },
  });
const terminal = (code: string): { text: string } => ({
  text: call('code_execution_tool', { runtime: 'terminal', code }),
});

test('the token of a link logs in once and is gone from the address; without one the page asks for it', async () => {
  const opened = await setting.open();
  expect(opened.page.url()).not.toContain('hf_');
  await opened.page.getByRole('button', { name: 'Log out' }).click();
  await opened.page.getByLabel('Token').fill('hf_wrong');
  await opened.page.getByRole('button', { name: 'Log in' }).click();
  await opened.page.getByRole('alert').waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a log-out whose request is lost says so, and the page stays', async () => {
  const opened = await setting.open();
  const { page } = opened;
  await page.route('**/v1/logout', (route) => route.abort());
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
  expect(await opened.barriers()).toEqual([]);
  await page.unroute('**/v1/logout');
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

const LOGGED_OUT = 'You are not logged in';

test('a link that is opened in a tab whose log-in has ended logs it in, and its token is gone from the address', async () => {
  const { token } = await setting.gateway.tokens.create({
    ...{ name: 'link', role: 'operator', agents: ['*'], validMs: null },
  });
  const opened = await setting.open();
  const { page } = opened;
  await page.context().clearCookies();
  await opened.goto('hosts');
  await page.getByText(LOGGED_OUT).waitFor();
  // A reason for what went wrong is shown, also after a log-in.
  await page.route('**/v1/me', (route) => route.fulfill({ status: 503, body: '' }));
  await page.evaluate(`location.hash = '#token=${token}'`);
  await page.getByRole('alert').filter({ hasText: 'The gateway answered with status 503.' }).waitFor();
  await page.unroute('**/v1/me');
  await page.evaluate(`location.hash = '#token=${token}'`);
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  expect(page.url()).not.toContain('hf_');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a tab whose log-in has ended goes on when it is seen after a log-in in another tab', async () => {
  const opened = await setting.open();
  const { page } = opened;
  try {
    await page.context().clearCookies();
    await opened.goto('hosts');
    await page.getByText(LOGGED_OUT).waitFor();
    const { token } = await setting.gateway.tokens.create({
      ...{ name: 'tab', role: 'operator', agents: ['*'], validMs: null },
    });
    const other = await page.context().newPage();
    await other.goto(`${setting.gateway.url}/#token=${token}`);
    await other.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText('No other machine has connected').waitFor();
    expect(opened.faults).toEqual([]);
  } finally {
    await opened.end();
  }
});

test('an approval shows the whole code with its host and hash, and runs when it is approved', async () => {
  const opened = await setting.open();
  const lines = Array.from({ length: 60 }, (_, index) => `echo line ${index}`);
  const code = [...lines, 'echo "a\u202eb"', 'echo approved'].join('\n');
  const running = setting.operator.post('/v1/sessions/held/local/0/exec', {
    code,
    yield: { maxMs: 600_000, firstOutputMs: 600_000 },
  });
  const card = opened.page.getByRole('article').filter({ hasText: 'held' });
  await card.getByText('echo approved').waitFor();
  expect(await card.getByRole('region').innerText()).toContain('echo line 59');
  // What reorders the text is written out.
  expect(await card.locator('mark').innerText()).toBe('U+202E');
  const { items } = await setting.operator.get<{ items: { hash: string }[] }>('/v1/approvals?agent=held');
  await card.getByText(items[0]?.hash ?? 'no hash').waitFor();
  await card.getByText('local', { exact: true }).waitFor();
  expect(await opened.barriers()).toEqual([]);
  await card.getByRole('button', { name: 'Approve' }).click();
  expect(await running).toMatchObject({ output: expect.stringContaining('approved') as string });
  await card.waitFor({ state: 'detached' });
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a prompt is answered in the inbox, with a password field where the program does not echo', async () => {
  const agent = uniqueId('p');
  const opened = await setting.open();
  await run(agent, "read -p 'Deploy? ' x; read -sp 'Password: ' y; printf '\\n%s.\\n' \"$x ${#y}\"");
  const card = opened.page.getByRole('article').filter({ hasText: agent });
  await card.getByText('Deploy?', { exact: true }).waitFor();
  await card.getByRole('textbox', { name: 'Answer' }).fill('yes');
  await card.getByRole('button', { name: 'Send' }).click();
  const password = card.locator('input[type=password]');
  await password.waitFor();
  await password.fill('secret');
  await card.getByRole('button', { name: 'Send' }).click();
  await card.waitFor({ state: 'detached' });
  await until(async () => {
    const { view } = await setting.operator.get<{ view: { output: string } }>(
      `/v1/sessions/${agent}/local/0`,
    );
    return view.output.includes('yes 6.');
  });
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('an agent started from the form shows each step as it happens, and answers what it is sent', async () => {
  const agent = uniqueId('a');
  const opened = await setting.open();
  const { page } = opened;
  const { model } = files.settings([
    terminal('echo from-the-shell'),
    { text: '**first** answer' },
    { text: 'second' },
  ]);
  await opened.goto('start');
  await page.getByLabel('Task').fill('Count to three.');
  await page.getByLabel('Model').fill(model);
  await page.getByText('More settings').click();
  await page.getByLabel('Id').fill(agent);
  await page.getByRole('button', { name: 'Start' }).click();
  const log = page.getByRole('log');
  await log.getByText('Count to three.').waitFor();
  await log.locator('strong', { hasText: 'first' }).waitFor();
  await log.locator('summary', { hasText: 'echo from-the-shell' }).click();
  await log.locator('.screen', { hasText: 'from-the-shell' }).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('and then?');
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  await log.getByText('second', { exact: true }).waitFor();
  expect(await opened.barriers()).toEqual([]);
  await opened.goto('agents');
  await page.getByRole('searchbox').fill(agent);
  await page.getByRole('listitem').filter({ hasText: agent }).waitFor();
  expect(await page.getByRole('listitem').count()).toBe(1);
  expect(await opened.barriers()).toEqual([]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('after a start that was refused the form still has all that was entered', async () => {
  const opened = await setting.open();
  const { page } = opened;
  await page.evaluate("localStorage.setItem('holdfast.model', 'a:old')");
  await opened.goto('start');
  await page.getByLabel('Task').fill('Count to three.');
  await page.getByLabel('Model').fill('b:new');
  await page.getByLabel('it ends').check();
  await page.getByText('More settings').click();
  await page.getByLabel('Id').fill('not an id/');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByLabel('Model').inputValue()).toBe('b:new');
  expect(await page.getByLabel('it ends').isChecked()).toBe(true);
  expect(await page.getByLabel('Task').inputValue()).toBe('Count to three.');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a form that is half filled in when the log-in ends is as it was after the next one, until an agent is started', async () => {
  const opened = await setting.open();
  const { page } = opened;
  await opened.goto('start');
  const fields: [label: string, text: string][] = [
    ['Task', 'Count to three.'],
    ['Model', files.model([{ text: 'one two three' }])],
    ['Id', uniqueId('form')],
    ['Instructions', 'Be brief.'],
  ];
  await page.getByText('More settings').click();
  for (const [label, text] of fields) await page.getByLabel(label).fill(text);
  await page.getByLabel('it ends').check();
  await page.context().clearCookies();
  const start = page.getByRole('button', { name: 'Start' });
  await start.click();
  await page.getByText(LOGGED_OUT).waitFor();
  const { token } = await setting.gateway.tokens.create({
    ...{ name: 'form', role: 'operator', agents: ['*'], validMs: null },
  });
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await start.waitFor();
  for (const [label, text] of fields) expect(await page.getByLabel(label).inputValue()).toBe(text);
  // What is filled in is seen.
  expect(await page.getByLabel('Id').isVisible()).toBe(true);
  expect(await page.getByLabel('it ends').isChecked()).toBe(true);
  await start.click();
  await page.getByRole('log').getByText('one two three', { exact: true }).waitFor();
  await opened.goto('start');
  expect(await page.getByLabel('Task').inputValue()).toBe('');
  expect(await page.getByLabel('it ends').isChecked()).toBe(false);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a terminal is typed into, watched and taken over, and goes on after its gateway was ended', async () => {
  const agent = uniqueId('t');
  const port = await freePort();
  const first = await gatewayOn(engine, { listen: `127.0.0.1:${port}` });
  await run(agent, 'while read -r n; do echo "got $n"; done');
  const [one, two] = [
    await ConsolePage.open(setting.browser, first),
    await ConsolePage.open(setting.browser, first),
  ];
  for (const { page } of [one, two]) {
    await page.goto(`${first.url}/#/terminals?none`);
    await page.getByRole('button', { name: agent }).click();
    await page.getByText('watching').waitFor();
  }
  const rows = (of: ConsolePage): ReturnType<typeof of.page.locator> => of.page.locator('.xterm-rows');
  await one.page.getByRole('button', { name: 'Type' }).click();
  await one.page.getByText('you type').waitFor();
  await one.page.keyboard.type('one\n');
  await rows(two).getByText('got one').waitFor();
  await two.page.getByRole('button', { name: 'Take over' }).click();
  await two.page.getByText('you type').waitFor();
  await one.page.getByText(/operator, .* types/).waitFor();
  await two.page.keyboard.type('two\n');
  await rows(one).getByText('got two').waitFor();
  await first.close();
  await one.page.getByText('Not connected to the gateway').waitFor();
  const again = await gatewayOn(engine, { listen: `127.0.0.1:${port}` });
  try {
    await one.page.getByText('Not connected to the gateway').waitFor({ state: 'detached' });
    await two.page.getByText('you type').waitFor();
    await two.page.locator('.xterm-helper-textarea').focus();
    await two.page.keyboard.type('three\n');
    await rows(one).getByText('got three').waitFor();
    // Nothing was drawn twice.
    expect(await rows(one).getByText('got two').count()).toBe(1);
    expect(await two.barriers()).toEqual([]);
    expect([...one.faults, ...two.faults]).toEqual([]);
  } finally {
    await one.close();
    await two.close();
    await again.close();
  }
});

test('what programs and models print does nothing to the page', async () => {
  const agent = uniqueId('h');
  const attack = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
  const opened = await setting.open();
  const { page } = opened;
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await setting.operator.post('/v1/agents', {
    id: agent,
    task: attack,
    mode: 'conversation',
    ...files.settings([
      // A title, the clipboard, a link to a script, questions to the terminal, markup.
      terminal(
        `printf '\\033]0;${MARKUP}\\007\\033]52;c;ZXZpbA==\\007\\033]8;;javascript:alert(1)\\033\\\\link\\033]8;;\\033\\\\${MARKUP}'; read a; printf '\\033[c\\033[6nready\\n'; read x; printf 'typed %q.\\n' "$x"`,
      ),
      {
        text: `${attack} ![picture](http://127.0.0.1:1/picture) [link](javascript:alert(1)) [web](https://e.example/)`,
      },
    ]),
  });
  await opened.goto(`agents/${agent}`);
  const answer = page.locator('.markdown');
  await answer.getByText('<script>').waitFor();
  expect(await answer.locator('img, script, [onerror], [style]').count()).toBe(0);
  expect(await answer.locator('a[href^="javascript"]').count()).toBe(0);
  await answer.getByText('(https://e.example/)').waitFor();
  expect(await answer.getByRole('link', { name: 'web' }).getAttribute('rel')).toContain('noopener');
  await page.getByRole('button', { name: 'local 0' }).click();
  await page.locator('.xterm-rows').getByText(MARKUP).waitFor();
  await page.getByRole('button', { name: 'Type' }).click();
  await page.getByText('you type').waitFor();
  expect(await page.title()).toMatch(/^(\(\d+\) )?Holdfast$/);
  expect(asked.filter((url) => !url.startsWith(setting.gateway.url))).toEqual([]);
  // The program's questions get no answer: an answer would be typed at its prompt.
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type('go\n');
  await page.locator('.xterm-rows').getByText('ready').waitFor();
  await page.keyboard.type('end\n');
  await page.locator('.xterm-rows').getByText('typed end.').waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

const MARKUP = '<b>bold</b>';

test.each(['inbox', 'agents', 'terminals', 'hosts', 'tools', 'usage', 'start'])(
  'the page %s has no barrier that axe finds, at a desk or on a phone',
  async (place) => {
    const opened = await setting.open('viewer');
    await opened.goto(place);
    await opened.page.getByRole('heading', { level: 1, name: new RegExp(place, 'i') }).waitFor();
    expect(await opened.barriers()).toEqual([]);
    expect(opened.faults).toEqual([]);
    await opened.close();
  },
);
