// Temporal's web UI as an operator uses it: in headless Chromium, through what is on the page.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { pathOf } from '../run/programs';
import { until } from '../until';

/** Nothing leaves the machine, and no sandbox if root runs it. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const PATIENCE_MS = 60_000;
const LOOK_MS = 3_000;
/** Without a graphics card, a page with something that moves on it takes a third of a processor for as long as it is open. */
const STILL = `
  const still = () => {
    const style = document.createElement('style');
    style.textContent = '*, *::before, *::after { animation: none !important; transition: none !important }';
    document.documentElement.append(style);
  };
  if (document.documentElement) still();
  else document.addEventListener('DOMContentLoaded', still);`;

export class WebUi {
  private hasNotice = false;

  private constructor(
    private readonly context: BrowserContext,
    private readonly profile: string,
    readonly page: Page,
  ) {}

  /** A browser that is let in, as by the link that `holdfast up` prints. */
  static async open(flags: readonly string[] = []): Promise<WebUi> {
    const profile = mkdtempSync(join(tmpdir(), 'holdfast-chromium-'));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: pathOf('chromium'),
      headless: true,
      args: [...FLAGS, ...flags],
      viewport: { width: 1400, height: 1100 },
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(STILL);
    const page = await context.newPage();
    await page.goto(process.env.HOLDFAST_TEST_UI_LINK ?? '');
    return new WebUi(context, profile, page);
  }

  async close(): Promise<void> {
    await this.context.close();
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  /** For the eyes: HOLDFAST_TEST_SCREENSHOTS names a folder. */
  async picture(name: string): Promise<void> {
    const folder = process.env.HOLDFAST_TEST_SCREENSHOTS;
    if (folder) await this.page.screenshot({ path: join(folder, `${name}.png`) });
  }

  /** As a link on the page leads there: to load all of the UI again costs five times as much. */
  async goto(path: string): Promise<void> {
    const href = JSON.stringify(`/namespaces/default/workflows${path}`);
    await this.page.evaluate(
      `const link = document.createElement('a'); link.href = ${href}; document.body.append(link); link.click(); link.remove()`,
    );
    await this.page.waitForURL(`${process.env.HOLDFAST_TEST_UI}/namespaces/default/workflows${path}**`);
  }

  async openWorkflow(workflowId: string): Promise<void> {
    await this.goto(`/${encodeURIComponent(workflowId)}`);
    await this.page.getByRole('heading', { name: workflowId, exact: true }).waitFor();
  }

  async openTab(name: string): Promise<void> {
    await this.page.getByRole('tab', { name }).click();
  }

  /** The current details of the page's workflow, on the tab "User Metadata". */
  get details(): Locator {
    return this.page.frameLocator('#user-metadata-current-details').locator('main');
  }

  /** Opens the details and waits until they hold a text. */
  async seeDetails(text: string | RegExp): Promise<string> {
    await this.openTab('User Metadata');
    await this.details.waitFor();
    const seen = this.details.filter({ hasText: text });
    // The page may have been read again before the workflow said so.
    await until(async () => {
      await this.page.keyboard.press('r');
      return seen.waitFor({ timeout: LOOK_MS }).then(
        () => true,
        () => false,
      );
    });
    return this.details.innerText();
  }

  /** Fills in the form that a link has opened, and starts. */
  async start(json: string): Promise<void> {
    await this.page.getByText('Task Queue is Active').waitFor();
    await this.type(this.page, json);
    await this.picture('start-form');
    await this.page.getByTestId('start-workflow-button').click();
    await this.page.getByText('Workflow started').first().waitFor();
    await this.page.getByText('Workflow started').waitFor({ state: 'detached' });
  }

  /** Sends a signal, which closes its dialog. A second one loads the page again: two notices at once break it (UI 2.50.1). */
  async signal(name: string, data?: string): Promise<void> {
    if (this.hasNotice) await this.page.reload();
    this.hasNotice = true;
    const dialog = await this.send('Signal', name, data);
    await dialog.waitFor({ state: 'hidden' });
  }

  /** Sends an update, whose dialog shows the answer. */
  update(name: string, data: string): Promise<Locator> {
    return this.send('Update', name, data);
  }

  /** Request Cancellation, and yes. */
  async cancel(): Promise<void> {
    await this.page.getByRole('button', { name: 'Request Cancellation' }).click();
    await this.page
      .getByRole('dialog', { name: 'Cancel Workflow' })
      .getByTestId('confirm-modal-button')
      .click();
  }

  private async send(kind: 'Signal' | 'Update', name: string, data?: string): Promise<Locator> {
    const page = this.page;
    await page.getByRole('button', { name: 'More Actions' }).click();
    await page.getByRole('menuitem', { name: `Send a${kind === 'Update' ? 'n' : ''} ${kind}` }).click();
    const dialog = page.getByRole('dialog', { name: `Send a${kind === 'Update' ? 'n' : ''} ${kind}` });
    await dialog.getByTestId(`${kind.toLowerCase()}-select-button`).click();
    await this.picture(`dialog-${kind.toLowerCase()}`);
    await dialog
      .getByRole('option')
      .filter({ has: page.getByText(name, { exact: true }) })
      .click();
    if (data !== undefined) await this.type(dialog, data);
    await dialog.getByTestId('confirm-modal-button').click();
    return dialog;
  }

  /** JSON into the editor of a form or dialog, and out of it: leaving it formats the text, which moves the buttons. */
  private async type(within: Locator | Page, json: string): Promise<void> {
    const editor = within.locator('[role=textbox][data-language=json]').first();
    await editor.fill(json);
    await editor.blur();
    await editor.filter({ hasText: /^\{\s/ }).waitFor();
  }

  /** Runs a query on its tab and waits until its result holds a text. */
  async query(name: string, text: string): Promise<void> {
    await this.openTab('Queries');
    await this.page.getByTestId('query-select-button').click();
    await this.page
      .getByRole('option')
      .filter({ has: this.page.getByText(name, { exact: true }) })
      .click();
    await this.page.getByRole('button', { name: 'Run Query' }).click();
    await this.page.getByTestId('query-result').filter({ hasText: text }).waitFor();
  }
}
