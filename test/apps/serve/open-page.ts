import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../support/chromium.ts';
import { startService, type TestService } from './service.ts';

/** The page of a service of its own, in Chromium. */
export class OpenPage implements AsyncDisposable {
  readonly service: TestService;
  /** What the browser objected to, errors of the script, and requests to anyone but the service. */
  readonly complaints: string[] = [];
  private readonly browser: Browser;
  private opened: Page | undefined;
  /** The options of its context. */
  private openedAs = '';

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

  /** Opens a window, or empties the one with these options: a process for each would take most of the tests' time. */
  async open(options: BrowserContextOptions = {}): Promise<void> {
    const openedAs = JSON.stringify(options);
    if (this.opened?.isClosed() === false && openedAs === this.openedAs) {
      await this.opened.goto('about:blank');
      await this.opened.emulateMedia({ media: null, colorScheme: null });
      this.complaints.length = 0;
      return;
    }
    this.openedAs = openedAs;
    await this.opened?.context().close();
    const context = await this.browser.newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(25_000);
    this.opened = page;
    this.complaints.length = 0;
    page.on('console', (message) => {
      // Chromium reports every 4xx.
      if (!message.text().startsWith('Failed to load resource')) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('dialog', (dialog) => {
      this.complaints.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(this.service.origin) && !url.startsWith('blob:')) this.complaints.push(url);
    });
  }

  /** Goes to the page with a query or a fragment. */
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
  async paste(robots: string, urls: string, agents: string): Promise<void> {
    await this.visit();
    await this.page.getByLabel('Try a robots.txt').check();
    await this.page.getByLabel('robots.txt', { exact: true }).fill(robots);
    await this.page.getByLabel('URLs or paths').fill(urls);
    await this.page.getByLabel('Agents', { exact: true }).fill(agents);
    await this.check();
  }

  /** Asks about many URLs by the form. */
  async askMany(urls: string, agents: string): Promise<void> {
    await this.visit();
    await this.page.getByLabel('Ask about many URLs').check();
    await this.page.getByLabel('URLs', { exact: true }).fill(urls);
    await this.page.getByLabel('Agents', { exact: true }).fill(agents);
    await this.check();
  }

  /** Submits the form, and waits for the result. */
  async check(): Promise<void> {
    await this.page.getByRole('button', { name: 'Check', exact: true }).click();
    await this.banner();
  }

  /** Waits for the banner of a result. Returns its text. */
  async banner(kind = ''): Promise<string> {
    const banner = this.page.locator(`[data-part=result] [data-part=banner]${kind === '' ? '' : `.${kind}`}`);
    await banner.waitFor();
    return banner.innerText();
  }

  /** Opens the sections of the result whose heading has this text. */
  async unfold(title = ''): Promise<void> {
    const closed = this.page.locator('.card:not([open], [hidden]) > summary', { hasText: title });
    if (title !== '') await closed.first().waitFor();
    while ((await closed.count()) > 0) await closed.first().click();
  }

  /** Waits for an error at a field. Returns the name of the field and the error, if the page goes to it and says it well. */
  async fault(): Promise<unknown> {
    await this.page.locator('#fault').waitFor();
    return this.page.evaluate(`(() => {
      const [fields, field] = [[...document.querySelectorAll('[aria-invalid]')], document.activeElement];
      if (fields.length !== 1 || fields[0] !== field || field.ariaInvalid !== 'true') return 'not the invalid field';
      const fault = document.getElementById(field.getAttribute('aria-describedby').split(' ')[0]);
      const gap = fault.getBoundingClientRect().top - field.getBoundingClientRect().bottom;
      if (fault.getAttribute('role') !== 'alert') return 'silent where the focus has not moved';
      if (gap < 0 || gap > 16) return 'not right under the field';
      if (document.querySelector('[role=status]').textContent !== '') return 'said twice';
      return [field.name, fault.textContent];
    })()`);
  }

  async box(selector: string): Promise<{ x: number; y: number; width: number; height: number }> {
    const box = await this.page.locator(selector).first().boundingBox();
    if (box === null) throw new Error(`Expected ${selector} to be visible`);
    return box;
  }

  text(selector: string): Promise<string> {
    return this.page.locator(selector).first().innerText();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.service.terminate();
  }
}
