// The page of `holdfast serve` in headless Chromium, logged in as its link does.
import { readFileSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import type { Role } from '../../contracts/gateway/api';
import type { Gateway } from '../../gateway/gateway';
import { isLongRun } from './long-run';
import { chromiumPath } from './web-ui';

const PATIENCE_MS = 60_000;
/** Terminals drawn with elements: their text can be read. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-3d-apis', '--disable-background-networking'];

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

export class ConsolePage {
  /** What the browser complains about: broken scripts, and what the page's policy has blocked. */
  readonly faults: string[] = [];

  private constructor(
    private readonly context: BrowserContext,
    readonly page: Page,
    private readonly url: string,
  ) {}

  static launch(): Promise<Browser> {
    const executablePath = chromiumPath();
    if (!executablePath) throw new Error('These tests need Chromium.');
    return chromium.launch({ executablePath, args: FLAGS });
  }

  static async open(browser: Browser, gateway: Gateway, role: Role = 'operator'): Promise<ConsolePage> {
    const { token } = await gateway.tokens.create({ name: role, role, agents: ['*'], validMs: null });
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const opened = new ConsolePage(context, page, gateway.url);
    page.on('pageerror', ({ message }) => opened.faults.push(message));
    page.on('console', (said) => {
      if (/Content Security Policy/.test(said.text())) opened.faults.push(said.text());
    });
    await page.goto(`${gateway.url}/#token=${token}`);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
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
      const { violations } = await this.page.evaluate<AxeResult>('axe.run()');
      const where = `${width} ${colorScheme}`;
      found.push(...violations.map(({ id, nodes }) => `${where}: ${id} ${nodes[0]?.html}`));
      const overflow = await this.page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (Number(overflow) > 0) found.push(`${where}: wider than the window by ${String(overflow)}`);
    }
    await this.page.emulateMedia({ colorScheme: 'light' });
    await this.page.setViewportSize({ width: 1280, height: 900 });
    return found;
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
