// A terminal that is only watched.
import { uniqueId } from '../../../helpers/engines/temporal';
import { pageSetting } from '../../../helpers/gateway/console';
import { until } from '../../../helpers/until';

const setting = pageSetting();

test('what waits is shown first and stays when it was answered; of a screen larger than its tile, the last line is seen', async () => {
  const agent = uniqueId('watched');
  const code = "stty rows 60 cols 100; seq 300; read -p 'Ship it? ' x; seq 400; read -p 'Really? ' x";
  await setting.operator.post(`/v1/sessions/${agent}/local/0/exec`, {
    code,
    yield: { firstOutputMs: 500, betweenOutputMs: 500, maxMs: 2_000, promptMs: 100 },
  });
  const opened = await setting.open();
  const { page } = opened;
  await opened.goto('terminals');
  const tile = page.getByRole('region', { name: `Terminal 0 of ${agent}` });
  const place = tile.locator('.screen-place');
  /** How far below the upper edge of its place a line is; within it, it is seen. */
  const seen = async (text: string): Promise<boolean> => {
    const line = tile.locator('.xterm-rows').getByText(text);
    await line.waitFor();
    const [box, around] = [await line.boundingBox(), await place.boundingBox()];
    return (
      box !== null && around !== null && box.y > around.y && box.y + box.height <= around.y + around.height
    );
  };
  await until(() => seen('Ship it?'));
  await setting.operator.post(`/v1/sessions/${agent}/local/0/input`, { keyboard: 'yes' });
  await until(() => seen('Really?'));
  await setting.operator.post(`/v1/sessions/${agent}/local/0/input`, { keyboard: 'yes' });
  // It is still there once its chip says that nothing waits any more.
  await page.locator('.chips button:not(.waits)').filter({ hasText: agent }).waitFor();
  expect(await tile.count()).toBe(1);
  expect(opened.faults).toEqual([]);
  await opened.close();
});
