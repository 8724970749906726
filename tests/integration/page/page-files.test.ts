// What agents did to files, on the page in real Chromium: diffs, forks with files, and what a viewer sees.
import { existsSync, writeFileSync } from 'node:fs';
import { filesSetting, run, TWO_STEPS } from './pages-with-files';

const pages = filesSetting();
const { setting, at, text, worked, shown } = pages;

test('the line of a step opens its diff in place, which is read only then', async () => {
  writeFileSync(at('a.txt'), 'one\nsame\n');
  const id = await worked([
    run('sed -i s/one/two/ a.txt; echo new > b.txt; mkdir empty; head -c 9 /dev/zero > noise'),
    { text: 'written' },
  ]);
  const opened = await shown(id, 'viewer');
  const { page } = opened;
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/diff')) asked.push(new URL(request.url()).search);
  });
  const line = page.getByRole('log').locator('summary', { hasText: 'files after step 1' });
  expect(await line.innerText()).toBe('files after step 1: 3 added, 1 modified');
  expect(asked).toEqual([]);
  // By keyboard.
  await line.focus();
  await page.keyboard.press('Enter');
  const files = page.locator('.files .file');
  await files.first().waitFor();
  expect(await files.locator('summary').allInnerTexts()).toEqual([
    'modified\na.txt\n+1 -1',
    'added\nb.txt\n+1 -0',
    'added\nempty/',
    'added\nnoise',
  ]);
  expect(await files.nth(0).locator('del').allTextContents()).toEqual(['-one\n']);
  expect(await files.nth(0).locator('ins').allTextContents()).toEqual(['+two\n']);
  expect(await files.nth(2).innerText()).toContain('new empty folder');
  expect(await files.nth(3).innerText()).toContain('not text');
  // It is read once.
  await line.click();
  await line.click();
  expect(asked).toEqual(['?step=1']);
  expect(await opened.barriers()).toEqual([]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

const SCRIPT = '<img src=x onerror="document.title = 1"><script>document.title = 1</script>';

test('hostile names and contents of files are text in a diff, and no line passes for another file', async () => {
  const name = '<b>\u202e\u200bgpj.exe\n+9 -9';
  const content = ['-- a/other', '++ b/other', SCRIPT, '\u202etxt\u0007\r', 'x'.repeat(50_000)].join('\n');
  writeFileSync(at('prepared'), content);
  const id = await worked([
    run(`cp prepared "$(printf '<b>\\xe2\\x80\\xae\\xe2\\x80\\x8bgpj.exe\\n+9 -9')"; seq 900 > long`),
    { text: 'written' },
  ]);
  const opened = await shown(id);
  const { page } = opened;
  await page.getByRole('log').locator('summary', { hasText: 'files after step 1' }).click();
  const files = page.locator('.files .file');
  await files.first().waitFor();
  expect(await files.locator('.path').allTextContents()).toEqual([
    '<b>U+202EU+200Bgpj.exeU+000A+9 -9',
    'long',
  ]);
  expect(existsSync(at(name))).toBe(true);
  const lines = await files.nth(0).locator('ins').allTextContents();
  expect(lines).toEqual([
    '+-- a/other\n',
    '+++ b/other\n',
    `+${SCRIPT}\n`,
    '+U+202EtxtU+0007U+000D\n',
    `+${'x'.repeat(2_000)} … 48000 characters more\n`,
  ]);
  // The second file has many lines: it is folded until somebody asks for it, and then cut with a word.
  expect(await files.nth(1).locator('ins').count()).toBe(0);
  await files.nth(1).locator('summary').click();
  await files.nth(1).getByRole('button', { name: 'Show all 901 lines' }).click();
  expect(await files.nth(1).locator('ins').count()).toBe(900);
  expect(await page.locator('.files :is(img, script, b, [style], [onerror])').count()).toBe(0);
  expect(await page.title()).toMatch(/^(\(\d+\) )?Holdfast$/);
  expect(await opened.barriers()).toEqual([]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a fork works in a folder of its own with the files of that moment, if a person wants that', async () => {
  const id = await worked([...TWO_STEPS, run('pwd; cat a.txt'), { text: 'forked' }]);
  writeFileSync(at('a.txt'), 'mine\n');
  const opened = await shown(id);
  const { page } = opened;
  const answer = page.getByRole('log').locator('.place').filter({ hasText: 'written' });
  await answer.getByRole('button', { name: 'fork from here' }).click();
  const dialog = page.getByRole('dialog', { name: /^Start another agent/ });
  await dialog.getByRole('checkbox', { name: /in a folder of its own/ }).check();
  expect(await opened.barriers()).toEqual([]);
  await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
  // It is named after its origin.
  await page.getByRole('heading', { level: 1, name: new RegExp(`^${id}-[0-9a-f]{6}`) }).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('look');
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  await page.getByRole('log').getByText('forked', { exact: true }).waitFor();
  await page.getByRole('log').locator('summary', { hasText: 'pwd; cat' }).click();
  const result = page.getByRole('region', { name: 'Result of code_execution_tool' }).last();
  expect(await result.innerText()).toMatch(/two/);
  expect(await result.innerText()).not.toContain(pages.folder);
  expect(text('a.txt')).toBe('mine\n');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a viewer sees what was done to files, and no act', async () => {
  const id = await worked(TWO_STEPS);
  await setting.operator.post(`/v1/agents/${id}/rewind`, { to: 1 });
  const opened = await shown(id, 'viewer');
  const { page } = opened;
  await page.getByRole('log').locator('summary', { hasText: 'back to step 1' }).waitFor();
  await page.locator('.taken-back').filter({ hasText: 'written' }).waitFor();
  for (const name of [/rewind/i, /undo/i, /fork/i])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  const status = await page.evaluate<number>(
    `fetch('/v1/agents/${id}/rewind', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"to":0}',
    }).then(({ status }) => status)`,
  );
  expect(status).toBe(403);
  expect(opened.faults).toEqual([]);
  await opened.close();
});
