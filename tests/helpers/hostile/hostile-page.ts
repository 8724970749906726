// Pages that attack what listens on this machine, in a real Chromium, by every way of sending that a page has.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { until } from '../until';

/** What a page sends, one after the other: JSON, for servers that do not check the content type of a body. */
export type Shot = readonly { path: string; body: string }[];

/** One line per success of the page: a readable answer, or an opened socket. */
export type Loot = string[];

const SCRIPT = readFileSync(join(__dirname, '..', '..', 'fixtures', 'hostile-page.js'), 'utf8');
const PAGE = `<!doctype html><title>A page</title><body><script>${SCRIPT}</script>`;

export class HostilePages {
  private readonly server: Server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end(PAGE),
  );
  private readonly pending = new Set<unknown>();
  private port = 0;

  constructor(private readonly context: BrowserContext) {
    context.on('request', (request) => this.pending.add(request));
    context.on('requestfinished', (request) => this.pending.delete(request));
    context.on('requestfailed', (request) => this.pending.delete(request));
  }

  async listen(): Promise<void> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** A page of this host, from a separate server. */
  async from(host: string): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(`http://${host}:${this.port}/`);
    return page;
  }

  /** A page whose name resolved elsewhere when it was loaded, and now resolves to the victim. */
  async rebound(origin: string): Promise<Page> {
    const page = await this.context.newPage();
    await page.route(`${origin}/attack`, (route) => route.fulfill({ contentType: 'text/html', body: PAGE }));
    await page.goto(`${origin}/attack`);
    return page;
  }

  /** Returns when all requests that it caused have finished. */
  async attack(page: Page, bases: readonly string[], shots: readonly Shot[]): Promise<Loot> {
    const loot = await page.evaluate<Loot>(`attack(${JSON.stringify({ bases, shots })})`);
    await until(() => this.pending.size === 0);
    await page.close();
    return loot;
  }
}
