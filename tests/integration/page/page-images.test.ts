// The images of a conversation in real Chromium.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageSetting } from '../../helpers/gateway/console';
import { png } from '../../helpers/tools/images';
import { call, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const setting = pageSetting();
const { files } = setting;

/** An agent that has viewed an image, which no other one has. */
async function viewer(seed: number): Promise<string> {
  const id = uniqueId('page');
  writeFileSync(join(files.directory, 'shot.png'), png(64, 48, seed));
  const replies = [{ text: call('view_image', { path: 'shot.png' }) }, { text: 'seen' }];
  const settings = files.settings(replies);
  await setting.operator.post('/v1/agents', { id, task: 'look', mode: 'conversation', ...settings });
  const isIdle = async (): Promise<boolean> =>
    (await setting.operator.get<{ status: string; turns: number }>(`/v1/agents/${id}`)).status === 'idle';
  await until(isIdle);
  return id;
}

const ALT = /^Image from view_image: png, 64×48, /;

test('the image of a result is shown below its call, with words for those who cannot see it', async () => {
  const id = await viewer(1);
  const opened = await setting.open();
  await opened.goto(`agents/${id}`);
  const image = opened.page.getByRole('log').getByRole('img', { name: ALT });
  await image.waitFor();
  expect(await image.getAttribute('loading')).toBe('lazy');
  const size = (): Promise<unknown> =>
    image.evaluate((shown) =>
      ['naturalWidth', 'naturalHeight'].map((name): unknown => Reflect.get(shown, name)),
    );
  await until(async () => JSON.stringify(await size()) === '[64,48]');
  expect(await opened.barriers()).toEqual([]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('an image that is no longer stored is named in words', async () => {
  const id = await viewer(2);
  const blobs = join(setting.engine.dataDir, 'blobs');
  expect(readdirSync(blobs)).toContain(id);
  rmSync(join(blobs, id), { recursive: true });
  const opened = await setting.open();
  await opened.goto(`agents/${id}`);
  await opened.page.getByText(/^An image that cannot be shown: png, 64×48, /).waitFor();
  await opened.close();
});
