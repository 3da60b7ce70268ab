import { orAborted } from '../../core/base/index.ts';
import type { Session } from './browser-requests.ts';

const SETTINGS = 'chrome://settings/performance';
/** Sets "Preload pages" to "No preloading". Returns `undefined` while the page loads, then whether the setting was changed. */
const TURN_OFF = `globalThis.chrome?.settingsPrivate?.setPref('net.network_prediction_options', 2) ??
  (document.readyState === 'complete' && location.protocol.startsWith('chrome') ? false : undefined)`;
/** The command is repeated once after this time. On a busy machine each step may take seconds. */
const MAX_SILENCE_MS = 30_000;
const RETRY_MS = 20;

const turnedOff = new WeakMap<Session, Promise<unknown>>();

/**
 * Turns off "Preload pages" in the settings of a browser, once, so that speculation rules have no effect anywhere in it.
 * No command of the protocol can do this, only the settings page. Without a settings page (Chromium's headless shell), or
 * if a policy fixes the setting, nothing happens.
 */
export async function turnPreloadingOff(session: Session): Promise<void> {
  const turning =
    turnedOff.get(session) ??
    viaSettings(session)
      .catch(() => viaSettings(session))
      .catch(() => undefined);
  turnedOff.set(session, turning);
  await turning;
}

async function viaSettings(browser: Session): Promise<void> {
  const { targetId } = (await browser.send('Target.createTarget', {
    url: 'about:blank',
    background: true,
  })) as { readonly targetId: string };
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), MAX_SILENCE_MS).unref();
  try {
    await orAborted(
      turnOffIn(browser, targetId, silence.signal, () => timer.refresh()),
      silence.signal,
    );
  } finally {
    clearTimeout(timer);
    await browser.send('Target.closeTarget', { targetId });
  }
}

async function turnOffIn(
  browser: Session,
  targetId: string,
  signal: AbortSignal,
  onResponse: () => void,
): Promise<void> {
  const ask = await openTarget(browser, targetId);
  const { errorText } = await ask('Page.navigate', { url: SETTINGS });
  if (errorText !== undefined) return;
  // Page.navigate may respond before the page is there.
  while (!signal.aborted) {
    const { result } = await ask('Runtime.evaluate', {
      expression: TURN_OFF,
      awaitPromise: true,
      returnByValue: true,
    });
    if (typeof result?.value === 'boolean') return;
    onResponse();
    await new Promise((resolve) => void setTimeout(resolve, RETRY_MS).unref());
  }
}

/** The part of a page's reply that is read. */
interface Reply {
  readonly errorText?: string;
  readonly result?: { readonly value?: unknown };
}

/** Sends commands to a page through the browser's session: neither library has a session for pages it did not open. */
async function openTarget(
  browser: Session,
  targetId: string,
): Promise<(method: string, params: object) => Promise<Reply>> {
  const { sessionId } = (await browser.send('Target.attachToTarget', { targetId, flatten: false })) as {
    readonly sessionId: string;
  };
  const waiting = new Map<number, (reply: Reply) => void>();
  browser.on('Target.receivedMessageFromTarget', (received: { sessionId: string; message: string }) => {
    if (received.sessionId !== sessionId) return;
    const { id = 0, result = {} }: { id?: number; result?: Reply } = JSON.parse(received.message);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let lastId = 0;
  return async (method, params) => {
    const id = ++lastId;
    const replied = new Promise<Reply>((resolve) => void waiting.set(id, resolve));
    const message = JSON.stringify({ id, method, params });
    await browser.send('Target.sendMessageToTarget', { sessionId, message });
    return replied;
  };
}

/**
 * Runs in each document before the scripts of the document. It disables service workers, which could respond to
 * navigations, and removes speculation rules, which make the browser load pages with requests that cannot be paused.
 *
 * Pages can replace what they find, so it takes every function and getter of the platform at once, calls them by
 * `Reflect.apply`, and iterates by index. It also watches the first document of a popup from the opener, because the
 * observers of the popup run late.
 */
export const INIT_SCRIPT = `{
  const { apply, getOwnPropertyDescriptor } = Reflect;
  const getter = (holder, name) => getOwnPropertyDescriptor(holder.prototype, name).get;
  const addedNodesOf = getter(MutationRecord, 'addedNodes');
  const targetOf = getter(MutationRecord, 'target');
  const lengthOf = getter(NodeList, 'length');
  const nodeTypeOf = getter(Node, 'nodeType');
  const localNameOf = getter(Element, 'localName');
  const { attachShadow, getAttribute, querySelectorAll, remove } = Element.prototype;
  const { observe, takeRecords } = MutationObserver.prototype;
  const { toLowerCase } = String.prototype;

  const removeRules = (script) => {
    const type = apply(getAttribute, script, ['type']);
    if (type !== null && apply(toLowerCase, type, []) === 'speculationrules') apply(remove, script, []);
  };
  const sweep = (node, within) => {
    if (apply(nodeTypeOf, node, []) !== 1) return;
    if (apply(localNameOf, node, []) === 'script') removeRules(node);
    if (!within) return;
    const scripts = apply(querySelectorAll, node, ['script']);
    const count = apply(lengthOf, scripts, []);
    for (let index = 0; index < count; index++) removeRules(scripts[index]);
  };
  const sweepAll = (records) => {
    // Removing a script can run code that adds another one.
    for (; records.length > 0; records = apply(takeRecords, observer, [])) {
      for (let index = 0; index < records.length; index++) {
        const record = records[index];
        // Rules can be written into a script that is already in the document.
        sweep(apply(targetOf, record, []), false);
        const added = apply(addedNodesOf, record, []);
        const count = apply(lengthOf, added, []);
        for (let at = 0; at < count; at++) sweep(added[at], true);
      }
    }
  };
  const observer = new MutationObserver(sweepAll);
  const watch = (root) => apply(observe, observer, [root, { __proto__: null, childList: true, subtree: true }]);
  const watchWindow = (opened) => {
    try {
      watch(opened.document);
    } catch {
      // There is no window, or its document belongs to another origin.
    }
    return opened;
  };
  watch(document);

  // Method shorthand: not constructible, like the natives.
  Element.prototype.attachShadow = {
    attachShadow(...given) {
      const root = apply(attachShadow, this, given);
      watch(root);
      return root;
    },
  }.attachShadow;
  const { open } = window;
  window.open = {
    open(...given) {
      return watchWindow(apply(open, this, given));
    },
  }.open;
  const { open: openDocument } = Document.prototype;
  Document.prototype.open = {
    open(...given) {
      const opened = apply(openDocument, this, given);
      // With three arguments it acts as window.open.
      return given.length > 2 ? watchWindow(opened) : opened;
    },
  }.open;
  if (window.ServiceWorkerContainer) {
    ServiceWorkerContainer.prototype.register = {
      async register() {
        throw new DOMException('Service workers are disabled: their requests cannot be checked against robots.txt', 'SecurityError');
      },
    }.register;
  }
}
`;
