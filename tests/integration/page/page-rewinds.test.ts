// Rewinds on the page in real Chromium: what is shown before, what is done, and how it is undone.
import { existsSync, writeFileSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import type { ConsolePage } from '../../helpers/gateway/console';
import { filesSetting, run, TWO_STEPS } from './pages-with-files';

const { setting, at, text, worked, shown } = filesSetting();

/** The dialog that a step's button opens, when it shows what would change. */
async function asked({ page }: ConsolePage, answer: string | RegExp): Promise<Locator> {
  const step = page.getByRole('log').locator('.place').filter({ hasText: answer }).first();
  await step.getByRole('button', { name: 'rewind to here' }).click();
  const dialog = page.getByRole('dialog', { name: /^Rewind to/ });
  await dialog.waitFor();
  return dialog;
}

test('a rewind shows first what it would change, does that, and is undone', async () => {
  const id = await worked(TWO_STEPS);
  const opened = await shown(id);
  const { page } = opened;
  const log = page.getByRole('log');
  const dialog = await asked(opened, 'echo one');
  await dialog.getByText('Files that would change: 1 modified, 1 deleted.').waitFor();
  expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([
    'modified\na.txt\n+1 -1',
    'deleted\nempty/',
  ]);
  await dialog.getByText('no longer see 3 messages').waitFor();
  expect(await opened.barriers()).toEqual([]);
  // Enter gives the safe answer, and nothing has changed yet.
  await dialog.getByRole('button', { name: 'Cancel' }).focus();
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  expect([text('a.txt'), existsSync(at('empty'))]).toEqual(['two\n', true]);
  await asked(opened, 'echo one');
  await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
  await page
    .getByText('Back to step 1: 1 modified, 1 deleted; the model no longer sees 3 messages.')
    .waitFor();
  expect([text('a.txt'), existsSync(at('empty'))]).toEqual(['one\n', false]);
  const line = log.locator('summary', {
    hasText: 'back to step 1: files and conversation: 1 modified, 1 deleted',
  });
  await line.click();
  await log.locator('del', { hasText: 'two' }).waitFor();
  const back = log.locator('.taken-back');
  expect(await back.filter({ hasText: 'echo two' }).locator('.taken').innerText()).toBe('taken back');
  expect(await back.filter({ hasText: 'written' }).count()).toBe(1);
  expect(await back.filter({ hasText: 'echo one' }).count()).toBe(0);
  expect(await opened.barriers()).toEqual([]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Back to step 3: 1 added, 1 modified; ').waitFor();
  expect([text('a.txt'), existsSync(at('empty'))]).toEqual(['two\n', true]);
  await back.filter({ hasText: 'back to step 1' }).waitFor();
  expect(await back.filter({ hasText: 'written' }).count()).toBe(0);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a rewind over changes of somebody else names them, and is done only with a second, explicit word', async () => {
  const id = await worked(TWO_STEPS);
  writeFileSync(at('a.txt'), 'mine\n');
  const opened = await shown(id);
  const { page } = opened;
  const dialog = await asked(opened, 'echo one');
  const alert = dialog.getByRole('alert');
  await alert.getByText('a.txt', { exact: true }).waitFor();
  expect(await alert.innerText()).toContain('Somebody else has changed files that this would change (1)');
  expect(await dialog.getByRole('button', { name: 'Rewind', exact: true }).count()).toBe(0);
  expect(await opened.barriers()).toEqual([]);
  // The conversation alone changes no file of theirs.
  await dialog.getByRole('radio', { name: 'conversation', exact: true }).check();
  await dialog.getByRole('button', { name: 'Rewind', exact: true }).waitFor();
  await dialog.getByRole('radio', { name: 'files', exact: true }).check();
  const force = dialog.getByRole('button', {
    name: /^Rewind all the same; theirs are kept in a checkpoint$/,
  });
  await force.waitFor();
  expect(text('a.txt')).toBe('mine\n');
  await force.click();
  await page.getByText(/^Back to step 1: 1 modified, 1 deleted\./).waitFor();
  expect(text('a.txt')).toBe('one\n');
  // Files alone: the conversation stands.
  expect(await page.locator('.taken-back').filter({ hasText: 'written' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('status').filter({ hasText: 'Back to step 3' }).waitFor();
  expect([text('a.txt'), existsSync(at('empty'))]).toEqual(['mine\n', true]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a change between the look and the rewind is not overwritten', async () => {
  const id = await worked(TWO_STEPS);
  const opened = await shown(id);
  const dialog = await asked(opened, 'echo one');
  await dialog.getByText('Files that would change').waitFor();
  writeFileSync(at('a.txt'), 'mine\n');
  await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
  await dialog.getByRole('alert').getByText('a.txt', { exact: true }).waitFor();
  expect(text('a.txt')).toBe('mine\n');
  await dialog.getByRole('button', { name: /^Rewind all the same/ }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(text('a.txt')).toBe('one\n');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a rewind whose answer was lost is done once when it is asked again', async () => {
  const id = await worked(TWO_STEPS);
  const opened = await shown(id);
  const { page } = opened;
  const dialog = await asked(opened, 'echo one');
  await dialog.getByText('Files that would change').waitFor();
  const keys: (string | undefined)[] = [];
  await page.route('**/rewind', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.continue();
    await route.fetch();
    await route.abort();
  });
  const rewind = dialog.getByRole('button', { name: 'Rewind', exact: true });
  await rewind.click();
  await dialog.getByRole('alert').getByText('It is unknown whether it received the request').waitFor();
  await rewind.click();
  await page.getByRole('status').filter({ hasText: 'Back to step 1' }).waitFor();
  expect(keys).toEqual([keys[0], keys[0]]);
  expect(keys[0]).toBeTruthy();
  const { items } = await setting.operator.get<{ items: { kind: string }[] }>(`/v1/agents/${id}/steps`);
  expect(items.filter(({ kind }) => kind === 'rewind')).toHaveLength(1);
  await opened.close();
});

test('a rewind whose answer was lost is another one after the next message', async () => {
  const id = await worked(TWO_STEPS);
  const opened = await shown(id);
  const { page } = opened;
  let sent = 0;
  await page.route('**/rewind', async (route) => {
    const { dryRun } = route.request().postDataJSON() as { dryRun?: boolean };
    if (dryRun === true || ++sent > 1) return route.continue();
    await route.fetch();
    await route.abort();
  });
  const dialog = await asked(opened, 'echo one');
  await dialog.getByText('Files that would change').waitFor();
  await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await setting.operator.post(`/v1/agents/${id}/messages`, { message: 'go on' });
  // The model does the same as before.
  await page.getByRole('log').getByText('written', { exact: true }).nth(1).waitFor();
  expect(text('a.txt')).toBe('two\n');
  await asked(opened, 'echo one');
  await dialog.getByText('Files that would change').waitFor();
  await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'Back to step 1' }).waitFor();
  expect(text('a.txt')).toBe('one\n');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('while a turn runs the dialog says so, and looks once the turn has ended', async () => {
  const id = await worked([...TWO_STEPS, run('until [ -e go ]; do sleep 0.05; done'), { text: 'went on' }]);
  await setting.operator.post(`/v1/agents/${id}/messages`, { message: 'wait' });
  const opened = await shown(id);
  await opened.page.getByText(/^Step 1 of at most/).waitFor();
  const dialog = await asked(opened, 'echo one');
  await dialog.getByText('A turn is running.').waitFor();
  expect(await dialog.getByRole('button', { name: /^Rewind/ }).count()).toBe(0);
  expect(await opened.barriers()).toEqual([]);
  writeFileSync(at('go'), '');
  await dialog.getByText('Files that would change').waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('what runs in its sessions is named, and ended first if a person wants that', async () => {
  const id = await worked([
    run('echo one > a.txt'),
    run('echo two > a.txt; while sleep 0.2; do echo again > a.txt; done'),
    { text: 'it runs' },
  ]);
  const opened = await shown(id);
  const dialog = await asked(opened, 'echo one');
  await dialog.getByText('Commands run in session 0, and may change files again.').waitFor();
  await dialog.getByRole('checkbox', { name: 'end what runs in its sessions first' }).check();
  await dialog.getByRole('button', { name: /^Rewind/ }).click();
  await dialog.waitFor({ state: 'detached' });
  await opened.page.getByRole('status').filter({ hasText: 'Back to step 1' }).waitFor();
  expect(text('a.txt')).toBe('one\n');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('of an agent that has ended only the files are brought back', async () => {
  const id = await worked(TWO_STEPS, 'task');
  const opened = await shown(id);
  const dialog = await asked(opened, 'echo one');
  await dialog.getByText('It has ended: only its files can be brought back.').waitFor();
  expect(await dialog.getByRole('radio', { name: 'files', exact: true }).isChecked()).toBe(true);
  expect(await dialog.getByRole('radio', { disabled: true }).count()).toBe(2);
  await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
  await opened.page.getByText('To take it back, rewind to another step.').waitFor();
  expect(text('a.txt')).toBe('one\n');
  await asked(opened, 'written');
  await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
  await opened.page.getByRole('status').filter({ hasText: 'Back to step 3' }).waitFor();
  expect(text('a.txt')).toBe('two\n');
  expect(opened.faults).toEqual([]);
  await opened.close();
});
