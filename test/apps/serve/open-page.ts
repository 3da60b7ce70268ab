import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../support/chromium.ts';
import { startService, type TestService } from './service.ts';

/** The page of a service of its own, in Chromium. */
export class OpenPage implements AsyncDisposable {
  readonly service: TestService;
  /** What the browser objected to, and requests to anyone but the service. */
  readonly complaints: string[] = [];
  private readonly browser: Browser;
  private opened: Page | undefined;

  private constructor(service: TestService, browser: Browser) {
    this.service = service;
    this.browser = browser;
  }

  static async start(argv?: readonly string[]): Promise<OpenPage> {
    const [service, browser] = await Promise.all([startService(argv), launchChromium()]);
    return new OpenPage(service, browser);
  }

  get page(): Page {
    if (this.opened === undefined) throw new Error('Expected open() to be called before');
    return this.opened;
  }

  async open(options: BrowserContextOptions = {}): Promise<void> {
    await this.opened?.context().close();
    const page = await (await this.browser.newContext(options)).newPage();
    page.setDefaultTimeout(25_000);
    this.opened = page;
    this.complaints.length = 0;
    page.on('console', (message) => {
      // Chromium reports every 4xx.
      if (!message.text().startsWith('Failed to load resource')) this.complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(this.service.origin)) this.complaints.push(request.url());
    });
  }

  /** Goes to the page with a query. */
  async visit(rest = ''): Promise<void> {
    await this.page.goto(`${this.service.origin}/${rest}`);
  }

  /** Asks about a URL by the form. */
  async ask(url: string, agent = 'ExampleBot'): Promise<void> {
    await this.visit();
    await this.page.getByLabel('URL', { exact: true }).fill(url);
    await this.page.getByLabel('Agent', { exact: true }).fill(agent);
    await this.check();
  }

  /** Asks about a pasted file by the form. */
  async paste(robots: string, url: string, agent: string): Promise<void> {
    await this.visit('try');
    await this.page.getByLabel('robots.txt', { exact: true }).fill(robots);
    await this.page.getByLabel('URL or path').fill(url);
    await this.page.getByLabel('Agent', { exact: true }).fill(agent);
    await this.check();
  }

  /** Submits the form, and waits for the result. */
  async check(): Promise<void> {
    // With its style, too.
    const loaded = this.page.waitForEvent('load');
    await this.page.getByRole('button', { name: 'Check', exact: true }).click();
    await loaded;
    await this.page.locator('[data-part=banner], #fault').first().waitFor();
  }

  /** Opens all sections of the result. */
  async unfold(): Promise<void> {
    const closed = this.page.locator('.card:not([open]) > summary');
    while ((await closed.count()) > 0) await closed.first().click();
  }

  text(selector: string): Promise<string> {
    return this.page.locator(selector).first().innerText();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.service.terminate();
  }
}
