// Code on the page in real Chromium: in answers, calls and approvals; hostile, unknown and long.
import type { Locator } from 'playwright-core';
import { pageSetting, type ConsolePage } from '../../helpers/gateway/console';
import { tellEvents } from '../../helpers/gateway/made-up-stream';
import { call, uniqueId, type Reply } from '../../helpers/engines/temporal';

const setting = pageSetting();
const { files } = setting;

/** The conversation of an agent that has given these replies. */
async function shown(replies: Reply[], last: string): Promise<{ opened: ConsolePage; log: Locator }> {
  const id = uniqueId('code');
  await setting.operator.post('/v1/agents', {
    ...{ id, task: 'first', mode: 'conversation' },
    ...files.settings(replies),
  });
  const opened = await setting.open();
  await opened.goto(`agents/${id}`);
  const log = opened.page.getByRole('log');
  await log.getByText(last).first().waitFor();
  return { opened, log };
}

const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``;

/** One for each colour that there is. */
const PYTHON = 'def area(r):\n    """Of a circle."""\n    return 3.14 * r ** 2  # about';
const DIFF = '@@ -1 +1 @@\n-old\n+new';

test('code of an answer has colours that can be read on light and dark, and its text stays as it is', async () => {
  const { opened, log } = await shown(
    [{ text: `Here:\n\n${fenced('python', PYTHON)}\n\n${fenced('diff', DIFF)}\n\nlast line` }],
    'last line',
  );
  const blocks = log.locator('.markdown pre');
  await blocks.nth(0).locator('.token-word', { hasText: 'def' }).waitFor();
  await blocks.nth(0).locator('.token-comment', { hasText: '# about' }).waitFor();
  await blocks.nth(0).locator('.token-number', { hasText: '3.14' }).waitFor();
  await blocks.nth(0).locator('.token-string', { hasText: 'Of a circle' }).waitFor();
  await blocks.nth(1).locator('.token-added', { hasText: '+new' }).waitFor();
  expect(await blocks.allTextContents()).toEqual([`${PYTHON}\n`, `${DIFF}\n`]);
  expect(await log.locator('[style]').count()).toBe(0);
  expect(await opened.barriers()).toEqual([]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('code of a call has colours once it is unfolded', async () => {
  const args = { runtime: 'python', code: 'print("from" + " python")', more: { deep: [1, true] } };
  const { opened, log } = await shown(
    [{ text: call('code_execution_tool', args) }, { text: 'last line' }],
    'last line',
  );
  const folded = log.locator('details.call');
  const code = folded.getByRole('region', { name: 'code of code_execution_tool' });
  expect(await folded.locator('.token').count()).toBe(0);
  await folded.locator('summary').click();
  await code.locator('.token-string', { hasText: '"from"' }).waitFor();
  await folded
    .getByRole('region', { name: 'more of code_execution_tool' })
    .locator('.token-number', { hasText: '1' })
    .waitFor();
  expect(await code.textContent()).toBe(`${args.code}\n`);
  expect(await opened.barriers()).toEqual([]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

const SCRIPT = '<script>document.title = "taken"</script><img src=x onerror="document.title = 1">';

test('hostile code is text, in a language that is known, unknown or hostile itself', async () => {
  const hostile = [
    'html',
    'nonsense',
    '"onclick="document.title=1',
    '"><img/src=x>',
    'constructor',
    'html x=1',
  ];
  const { opened, log } = await shown(
    [
      {
        text: [
          ...hostile.map((language) => fenced(language, SCRIPT)),
          '<pre><code class="language-python" onclick="x">def f(): pass</code></pre>',
          '<p class="token word" style="color:red">not a token</p>',
          'last line',
        ].join('\n\n'),
      },
    ],
    'last line',
  );
  const blocks = log.locator('.markdown pre');
  await blocks.first().locator('.token').first().waitFor();
  expect(await blocks.allTextContents()).toEqual(hostile.map(() => `${SCRIPT}\n`));
  expect(await log.locator('script, img, [style], [onclick], [onerror]').count()).toBe(0);
  const tokens = await opened.page.evaluate<number[]>(
    "[...document.querySelectorAll('.markdown pre')].map((one) => one.querySelectorAll('.token').length)",
  );
  expect(tokens.map((count) => count > 0)).toEqual([true, false, false, false, false, true]);
  expect(await log.locator('p .token').count()).toBe(0);
  const classes = await opened.page.evaluate<(string | null)[]>(
    "[...document.querySelectorAll('.markdown pre code')].map((one) => one.getAttribute('class'))",
  );
  const [html, none, constructor] = ['language-html', null, 'language-constructor'];
  expect(classes).toEqual([html, 'language-nonsense', none, none, constructor, html]);
  // Nothing but the language of code has a class that a model has chosen.
  expect(await log.locator('.markdown :not(code, .token, .target)[class]').count()).toBe(0);
  expect(await opened.page.title()).toMatch(/^(\(\d+\) )?Holdfast$/);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('code above a size, or with a line above one, is shown whole and without colours', async () => {
  const long = Array.from({ length: 2_050 }, (_, n) => `value_${1_000 + n} = ${'1 + '.repeat(22)}1`).join(
    '\n',
  );
  const wide = `x = "${'a'.repeat(1_500)}"`;
  expect(long.length).toBeGreaterThan(200_000);
  const { opened, log } = await shown(
    [
      {
        text: [fenced('python', long), fenced('python', wide), fenced('python', 'x = 1'), 'last line'].join(
          '\n\n',
        ),
      },
    ],
    'last line',
  );
  const blocks = log.locator('.markdown pre');
  // In view when it is scrolled to, as the others on the way there.
  for (const index of [0, 1, 2]) await blocks.nth(index).scrollIntoViewIfNeeded();
  await blocks.nth(2).locator('.token').first().waitFor();
  expect(await blocks.nth(0).locator('.token').count()).toBe(0);
  expect(await blocks.nth(1).locator('.token').count()).toBe(0);
  expect((await blocks.nth(0).textContent()) === `${long}\n`).toBe(true);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a text that is too hard to read as Markdown is shown as it is, and all that comes after it is shown', async () => {
  const hard = [`${'>'.repeat(3_000)}end of the depth`, `${'a_'.repeat(30_000)}end of the word`];
  const { opened, log } = await shown(
    [...hard.map((text) => ({ text: `${text}\n\n${call('code_execution_tool', NOTHING)}` })), { text: FINE }],
    'end of the depth',
  );
  await log.getByText('end of the word').waitFor();
  await log.locator('strong', { hasText: 'bold' }).waitFor();
  // At first it came message by message; now all of them come at once.
  await opened.page.reload();
  await log.locator('strong', { hasText: 'bold' }).waitFor();
  expect(await opened.barriers()).toEqual([]);
  await opened.goto('agents');
  await opened.page.getByRole('list', { name: 'Agents' }).getByRole('listitem').first().waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

const NOTHING = { runtime: 'terminal', code: 'true' };
const FINE = '> - *a quoted list* with a fine **bold** word';

test('a call, a message and a reply that is being written, made of characters that cannot be seen, do not keep the page from answering', async () => {
  const { opened } = await shown([{ text: 'last line' }], 'last line');
  const { page } = opened;
  const id = page.url().split('/').at(-1) ?? '';
  const code = '\u200b'.repeat(80_000);
  const [text, args] = ['\u200b'.repeat(300_000), { runtime: 'terminal', code }];
  const parsed = {
    ...{ kind: 'calls', headline: 'begins', prose: '', thoughts: [] },
    calls: [{ callId: '1', tool: 'code_execution_tool', args }],
  };
  await tellEvents(page, id, [
    ['state', await setting.operator.get(`/v1/agents/${id}`)],
    ['message', { index: 0, message: { role: 'user', text } }],
    ['message', { index: 1, message: { role: 'assistant', text: '', step: 1, parsed } }],
    ['token', { kind: 'text', agent: id, turn: 't', text }],
  ]);
  await opened.goto('hosts');
  await page.evaluate(`window.late = 0; let last = performance.now(); setInterval(() => {
    window.late = Math.max(window.late, performance.now() - last);
    last = performance.now();
  }, 20)`);
  await opened.goto(`agents/${id}`);
  await page.getByText('writing, not recorded yet').waitFor();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  expect(await page.evaluate('window.late')).toBeLessThan(5_000);
  expect((await page.locator('details.call .first-line').textContent())?.length).toBeLessThan(3_000);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('commands around a patch are shown with it', async () => {
  const patch = ['*** Begin Patch', '*** Add File: notes.txt', '+hi', '*** End Patch'].join('\n');
  const code = `echo before-it\n: <<'P'\n${patch}\nP\necho after-it`;
  const { opened, log } = await shown(
    [{ text: call('code_execution_tool', { runtime: 'terminal', code }) }, { text: 'last line' }],
    'last line',
  );
  const folded = log.locator('details.call');
  expect(await folded.locator('summary').innerText()).toContain('echo before-it · notes.txt');
  await folded.locator('summary').click();
  const region = folded.getByRole('region', { name: 'code of code_execution_tool' });
  expect(await region.textContent()).toBe(`${code}\n`);
  expect(await folded.locator('.file-patch .name').innerText()).toBe('adds notes.txt +1 -0');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a list in an answer keeps the number that it begins with', async () => {
  const { opened, log } = await shown([{ text: '3. third\n4. fourth\n\nlast line' }], 'last line');
  expect(await log.locator('.markdown ol').getAttribute('start')).toBe('3');
  await opened.close();
});

test('a link shows the address that it leads to, in its own order, whatever characters stand in it or before it', async () => {
  const address = 'https://evil.example/moc.elgoog.www//:sptth';
  const { opened, log } = await shown(
    [
      {
        text: `\u202e[click](${address})\n\n\u202e${address}\n\n[x](https://a.example/\u202eb)\n\nlast line`,
      },
    ],
    'last line',
  );
  const notes = log.locator('.markdown .target');
  expect(await notes.allTextContents()).toEqual([` (${address})`, ' (https://a.example/%E2%80%AEb)']);
  const places = await opened.page.evaluate<boolean[]>(`
    [...document.querySelectorAll('.markdown .target, .markdown a[dir]')].map((one) => {
      const text = one.firstChild;
      const at = (index) => {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + 1);
        return range.getBoundingClientRect().left;
      };
      return at(4) < at(20);
    })
  `);
  expect(places).toEqual([true, true, true]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});
