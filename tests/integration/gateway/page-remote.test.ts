// A terminal of another machine on the page, in real Chromium.
import type { Browser } from 'playwright-core';
import type { Gateway } from '../../../gateway/gateway';
import { ConsolePage } from '../../helpers/gateway/console';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { ApiClient, gatewayTo } from '../../helpers/gateway/gateway';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { fileNeeds } from '../../helpers/run/programs';
import { QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';

fileNeeds('chromium', 'openssl');
const engine = new EngineOfItsOwn();
let far: RemoteHost;
let gateway: Gateway;
let browser: Browser;
beforeAll(async () => {
  await engine.start();
  far = new RemoteHost('far', engine.server().address);
  gateway = await gatewayTo(far, engine);
  browser = await ConsolePage.launch();
}, 120_000);
afterAll(async () => {
  await browser.close();
  await gateway.close();
  await far.end();
  expect(await engine.end()).toEqual([]);
}, 60_000);

test('it is typed into; while its host is away the page says so, and it goes on by itself', async () => {
  const agent = uniqueId('page');
  const operator = await ApiClient.of(gateway, 'operator');
  await operator.post(`/v1/sessions/${agent}/far/0/exec`, {
    code: 'while read -r x; do echo "got $x"; done',
    yield: { ...QUICK_YIELD, promptMs: 100 },
  });
  const opened = await ConsolePage.open(browser, gateway);
  await opened.goto(`terminals?open=${agent}/far/0`);
  const tile = opened.page.getByRole('region', { name: `Terminal 0 of ${agent} on far` });
  const rows = tile.locator('.xterm-rows');
  await tile.getByRole('button', { name: 'Type' }).click();
  await tile.getByText('you type').waitFor();
  await tile.locator('.xterm-helper-textarea').focus();
  await opened.page.keyboard.type('one\n');
  await rows.getByText('got one').waitFor();
  await far.kill();
  await tile.getByText(/it appears here by itself.* Host far cannot be reached/).waitFor();
  await far.serve('--listen', '127.0.0.1:0');
  await tile.getByText('it appears here by itself').waitFor({ state: 'detached', timeout: 60_000 });
  await opened.page.keyboard.type('two\n');
  await rows.getByText('got two').waitFor();
  expect(await rows.innerText()).toMatch(/got one[^]*got two/);
  expect(opened.faults).toEqual([]);
  await opened.close();
}, 120_000);
