// What pages of other sites can do to the engine while it runs, tried in a real Chromium: nothing.
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { HoldfastClient } from '../../client/holdfast-client';
import { serveCodec } from '../../encryption/codec-server';
import { encryptingCodec } from '../../encryption/data-converter';
import { printPayloads } from '../../encryption/payload-json';
import { BROWSER_BLOCKED_PORTS } from '../../engine/ui-guard/browser-ports';
import { enginePaths, readRecord, type EngineRecord } from '../../engine/record';
import { uiToken } from '../../engine/ui-guard/ui-token';
import { HostilePages, type Shot } from '../helpers/hostile/hostile-page';
import { scratch, testClient, uniqueId, type Scratch } from '../helpers/engines/temporal';
import { until } from '../helpers/until';
import { fileNeeds } from '../helpers/run/programs';
import { WebUi } from '../helpers/gateway/web-ui';

fileNeeds('chromium');

/** The address that the attacker's name resolves to. */
const EVIL = 'evil.example';
const REBOUND = 'rebound.example';
const HIDDEN = 'hidden.example';
const WORKFLOWS = '/api/v1/namespaces/default/workflows';

const payloads = (value: object): object => ({
  payloads: [
    {
      metadata: { encoding: Buffer.from('json/plain').toString('base64') },
      data: Buffer.from(JSON.stringify(value)).toString('base64'),
    },
  ],
});

describe('a page of another site', () => {
  const dataDir = process.env.HOLDFAST_TEST_DATA ?? '';
  const engine = readRecord(enginePaths(dataDir)) as Required<EngineRecord>;
  const { ui, port, uiPort, httpPort, metricsPort } = engine;
  const ports = { gRPC: port, 'web UI': uiPort, 'HTTP API': httpPort, metrics: metricsPort };
  let client: HoldfastClient;
  let files: Scratch;
  let browser: WebUi;
  let pages: HostilePages;

  beforeAll(async () => {
    client = await testClient();
    files = scratch();
    // Let in, as its user's browser is: what pages send then bears the cookie.
    browser = await WebUi.open([
      // Newer Chromium stops some of this by itself; other browsers do not.
      '--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessForNavigations',
      `--host-resolver-rules=MAP ${EVIL} 127.0.0.1, MAP ${REBOUND} 127.0.0.1, MAP ${HIDDEN} ${ui.address}`,
    ]);
    pages = new HostilePages(browser.page.context());
    await pages.listen();
  });
  afterEach(() => rmSync(marker(), { force: true }));
  afterAll(async () => {
    await browser.close();
    await pages.close();
    await client.close();
    files.remove();
  });

  const marker = (): string => join(files.directory, 'ran');

  /** Starts a session and runs a command in it. */
  function shot(id: string): Shot {
    const workflow = `${WORKFLOWS}/${encodeURIComponent(id)}`;
    const start = {
      workflowType: { name: 'execSession' },
      taskQueue: { name: 'holdfast' },
      input: payloads({ cwd: files.directory }),
    };
    const exec = {
      request: {
        meta: { updateId: id },
        input: { name: 'exec', args: payloads({ code: `touch '${marker()}'` }) },
      },
    };
    return [
      { path: workflow, body: JSON.stringify(start) },
      { path: `${workflow}/update/exec`, body: JSON.stringify(exec) },
    ];
  }

  const isStarted = (id: string): Promise<boolean> =>
    client.temporal.workflow
      .getHandle(id)
      .describe()
      .then(
        () => true,
        (err: unknown) => {
          if (err instanceof WorkflowNotFoundError) return false;
          throw err;
        },
      );

  /** Two ids: the HTTP API knows none with a slash. */
  async function attacked(attack: (shots: Shot[]) => Promise<string[]>): Promise<object> {
    const ids = [`exec/${uniqueId('evil')}/local/1`, uniqueId('evil')];
    const loot = await attack(ids.map(shot));
    const started = (await Promise.all(ids.map(isStarted))).filter(Boolean).length;
    return { loot, started, ran: existsSync(marker()) };
  }
  const NOTHING = { loot: [], started: 0, ran: false };

  // The last: what a server of a session shows is of the same host, and gets the same cookies.
  test.each([EVIL, 'localhost', '127.0.0.1'])('starts and reads nothing from %s', async (host) => {
    const bases = Object.values(ports).map((each) => `http://127.0.0.1:${each}`);
    bases.push(`http://localhost:${uiPort}`);
    expect(await attacked(async (all) => pages.attack(await pages.from(host), bases, all))).toEqual(NOTHING);
  });

  test.each(Object.entries(ports))(
    'starts and reads nothing by a name rebound to the port of the %s',
    async (_name, target) => {
      const origin = `http://${REBOUND}:${target}`;
      expect(await attacked(async (all) => pages.attack(await pages.rebound(origin), [origin], all))).toEqual(
        NOTHING,
      );
    },
  );

  test('cannot connect to any of the ports that the engine hides behind', async () => {
    const page = await pages.from(EVIL);
    const failures: Record<string, string | undefined> = {};
    page.on('requestfailed', (each) => (failures[new URL(each.url()).port] = each.failure()?.errorText));
    const fetches = BROWSER_BLOCKED_PORTS.map(
      (each) => `fetch('http://127.0.0.1:${each}/', { mode: 'no-cors' })`,
    );
    await page.evaluate(`Promise.allSettled([${fetches.join()}]).then(() => undefined)`);
    const refused = Object.fromEntries(BROWSER_BLOCKED_PORTS.map((each) => [each, 'net::ERR_UNSAFE_PORT']));
    await until(() => Object.keys(failures).length === BROWSER_BLOCKED_PORTS.length);
    expect(failures).toEqual(refused);
    await page.close();
  });

  test('does not reach the server’s own web UI, even if it knows where that is', async () => {
    expect(BROWSER_BLOCKED_PORTS).toContain(ui.port);
    const origin = `http://${HIDDEN}:${ui.port}`;
    const bases = [`http://${ui.address}:${ui.port}`, origin];
    expect(await attacked(async (all) => pages.attack(await pages.from(EVIL), bases, all))).toEqual(NOTHING);
    expect(await attacked(async (all) => pages.attack(await pages.rebound(origin), [origin], all))).toEqual(
      NOTHING,
    );
  });

  test('gets no payload decoded by `holdfast codec`, not even by a name rebound to it', async () => {
    const keys = { keys: [{ id: 'k', env: 'K' }], required: true };
    const codec = encryptingCodec(keys, { K: randomBytes(32).toString('hex') });
    const sealed = await codec.encodeFor([defaultPayloadConverter.toPayload('canary')], {
      namespace: 'default',
    });
    const address = '127.0.0.1';
    const server = await serveCodec({ codec, origins: [engine.uiUrl], token: null, port: 0, address });
    const shot = [{ path: '/decode', body: printPayloads(sealed) }];
    const rebound = server.url.replace(address, REBOUND);
    try {
      expect(await pages.attack(await pages.from(EVIL), [server.url], [shot])).toEqual([]);
      expect(await pages.attack(await pages.rebound(rebound), [rebound], [shot])).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test('may link a person to the web UI, and learns nothing of what it shows', async () => {
    const page = await pages.from(EVIL);
    const [opened] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(`void (globalThis.opened = open('${engine.uiUrl}/'))`),
    ]);
    await opened.getByRole('heading', { level: 1, name: /Workflows/ }).waitFor();
    expect(await page.evaluate('opened.closed')).toBe(true);
    await opened.close();
    await page.close();
  });

  test('would start a session and run a command if it knew the token and had no origin', async () => {
    const id = `exec/${uniqueId('friend')}/local/1`;
    const authorization = `Bearer ${uiToken(enginePaths(dataDir).uiAuthorization)}`;
    for (const { path, body } of shot(id))
      expect(await post(engine.uiUrl + path, body, { authorization, 'content-type': 'text/plain' })).toBe(
        200,
      );
    await until(() => existsSync(marker()));
    await client.session({ agent: id.split('/')[1] ?? '', session: 1 }).close('seen');
  });
});

function post(url: string, body: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode));
    });
    sent.once('error', reject).end(body);
  });
}
