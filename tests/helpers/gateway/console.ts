// The page of `holdfast serve` in headless Chromium, logged in as its link does, and all that is behind it.
import { readFileSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import type { Role } from '../../../contracts/gateway/api';
import type { Gateway } from '../../../gateway/gateway';
import type { EngineOfItsOwn } from '../engines/engine-of-its-own';
import type { ApiClient } from './gateway';
import { afterStart, GatewayOfItsOwn, type StartOptions } from './gateway-of-its-own';
import { isLongRun } from '../run/long-run';
import { fileNeeds, pathOf } from '../run/programs';
import type { Scratch } from '../engines/temporal';

const PATIENCE_MS = 60_000;
/** A server, a worker and a browser on a machine that may be slow. */
const START_MS = 120_000;
/** Longer than a wait, which says more when it fails. */
const TEST_MS = 180_000;
/** Terminals drawn with elements: their text can be read. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-3d-apis', '--disable-background-networking'];

const DESK = { width: 1280, height: 900 };
/** Each width and each scheme; the long run has all four. */
const VIEWS: readonly (readonly [width: number, scheme: 'light' | 'dark'])[] = [
  [1280, 'light'],
  [390, 'dark'],
  ...(isLongRun
    ? ([
        [1280, 'dark'],
        [390, 'light'],
      ] as const)
    : []),
];

/** Of axe's own types, which would bring a browser's globals into these tests. */
interface AxeResult {
  violations: { id: string; nodes: { html: string }[] }[];
}

/** Axe leaves this rule out by default, as one of few of WCAG 2.2 AA. */
const AXE = { rules: { 'target-size': { enabled: true } } };

/** Closed and as if new: the processes of another one cost twice as much as all that the page does when it is opened. */
const closed = new WeakMap<Browser, ConsolePage[]>();

export class ConsolePage {
  /** What the browser complains about: broken scripts, and what the page's policy has blocked. */
  faults: string[] = [];
  private url = '';

  private constructor(
    private readonly browser: Browser,
    private readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  static launch(): Promise<Browser> {
    return chromium.launch({ executablePath: pathOf('chromium'), args: FLAGS });
  }

  static async open(browser: Browser, gateway: Gateway, role: Role = 'operator'): Promise<ConsolePage> {
    const { token } = await gateway.tokens.create({ name: role, role, agents: ['*'], validMs: null });
    const opened = closed.get(browser)?.pop() ?? (await ConsolePage.another(browser));
    opened.url = gateway.url;
    opened.faults = [];
    const { page } = opened;
    await page.goto(`${gateway.url}/#token=${token}`);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    return opened;
  }

  private static async another(browser: Browser): Promise<ConsolePage> {
    const context = await browser.newContext({ viewport: DESK });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const opened = new ConsolePage(browser, context, page);
    page.on('pageerror', ({ message }) => opened.faults.push(message));
    page.on('console', (said) => {
      if (/Content Security Policy/.test(said.text())) opened.faults.push(said.text());
    });
    return opened;
  }

  async goto(place: string): Promise<void> {
    await this.page.goto(`${this.url}/#/${place}`);
  }

  /** Faults that WCAG 2.2 AA names, at a desk's and a phone's width, on light and on dark. */
  async barriers(): Promise<string[]> {
    const found: string[] = [];
    const session = await this.context.newCDPSession(this.page);
    for (const [width, colorScheme] of VIEWS) {
      await this.page.emulateMedia({ colorScheme });
      await this.page.setViewportSize({ width, height: 900 });
      // As a debugger does: the page's policy lets no other script in.
      await session.send('Runtime.evaluate', {
        expression: readFileSync(require.resolve('axe-core'), 'utf8'),
      });
      const { violations } = await this.page.evaluate<AxeResult>(`axe.run(${JSON.stringify(AXE)})`);
      const where = `${width} ${colorScheme}`;
      found.push(...violations.map(({ id, nodes }) => `${where}: ${id} ${nodes[0]?.html}`));
      const overflow = await this.page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (Number(overflow) > 0) found.push(`${where}: wider than the window by ${String(overflow)}`);
    }
    await this.page.emulateMedia({ colorScheme: 'light' });
    await this.page.setViewportSize(DESK);
    return found;
  }

  /** Nothing of it remains for the test that opens one next: neither who is logged in nor what listens to the page. */
  async close(): Promise<void> {
    const { page, context, browser } = this;
    await page.evaluate('localStorage.clear(); sessionStorage.clear()');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.goto('about:blank');
    page.removeAllListeners('request');
    await Promise.all([context.clearCookies(), context.clearPermissions()]);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(DESK);
    closed.set(browser, [...(closed.get(browser) ?? []), this]);
  }

  /** For tests that leave something in the page's context, which no other test may find. */
  end(): Promise<void> {
    return this.context.close();
  }
}

export interface PageSetting {
  readonly engine: EngineOfItsOwn;
  readonly files: Scratch;
  /** From the first test on, like all that follows. */
  readonly gateway: Gateway;
  readonly operator: ApiClient;
  readonly browser: Browser;
  /** The page, as an operator sees it by default. */
  open(role?: Role): Promise<ConsolePage>;
}

/** An engine, a gateway and a browser for the tests of a file. Afterwards all of it is gone, or the file fails. */
export function pageSetting(options: Pick<StartOptions, 'config' | 'worker'> = {}): PageSetting {
  fileNeeds('chromium');
  jest.setTimeout(TEST_MS);
  const own = new GatewayOfItsOwn();
  let launched: Browser | undefined;
  beforeAll(async () => {
    await own.start(options);
    launched = await ConsolePage.launch();
  }, START_MS);
  afterAll(() => launched?.close(), START_MS);
  afterAll(() => own.end(), START_MS);
  return {
    ...{ engine: own.engine, files: own.files },
    get gateway() {
      return own.gateway;
    },
    get operator() {
      return own.api;
    },
    get browser() {
      return afterStart(launched);
    },
    open: (role) => ConsolePage.open(afterStart(launched), own.gateway, role),
  };
}
