import { orAborted } from '../../core/base/index.ts';
import type { Session } from './browser-requests.ts';

const SETTINGS = 'chrome://settings/performance';
/** Sets "Preload pages" to "No preloading", and tells whether it did; `undefined` while the page is not there. */
const TURN_OFF = "globalThis.chrome?.settingsPrivate?.setPref('net.network_prediction_options', 2)";
/** Until another page is tried: a browser that starts on a busy machine may take seconds. */
const MAX_WAIT_MS = 10_000;
const RETRY_MS = 20;

const turnedOff = new WeakMap<Session, Promise<unknown>>();

/**
 * Turns off "Preload pages" in the settings of a browser, once. Then speculation rules have no effect in any context,
 * wherever a page has them. No command of the protocol does that, only the page of the settings. Where there is none
 * (the headless shell of Chromium), or a policy forbids it, nothing happens.
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
  const end = new AbortController();
  const late = setTimeout(() => end.abort(), MAX_WAIT_MS).unref();
  try {
    await orAborted(turnOffIn(browser, targetId, end.signal), end.signal);
  } finally {
    clearTimeout(late);
    await browser.send('Target.closeTarget', { targetId });
  }
}

async function turnOffIn(browser: Session, targetId: string, signal: AbortSignal): Promise<void> {
  const ask = await openTarget(browser, targetId);
  const { errorText } = await ask('Page.navigate', { url: SETTINGS });
  if (errorText !== undefined) return;
  // The page may still be another one when the navigation is answered.
  while (!signal.aborted) {
    const { result } = await ask('Runtime.evaluate', {
      expression: TURN_OFF,
      awaitPromise: true,
      returnByValue: true,
    });
    if (typeof result?.value === 'boolean') return;
    await new Promise((resolve) => void setTimeout(resolve, RETRY_MS).unref());
  }
}

/** What is read of the answers of a page. */
interface Answer {
  readonly errorText?: string;
  readonly result?: { readonly value?: unknown };
}

/**
 * Asks a page through the session of the browser. Neither library gives a session of its own for a page that it did not
 * open.
 */
async function openTarget(
  browser: Session,
  targetId: string,
): Promise<(method: string, params: object) => Promise<Answer>> {
  const { sessionId } = (await browser.send('Target.attachToTarget', { targetId, flatten: false })) as {
    readonly sessionId: string;
  };
  const waiting = new Map<number, (answer: Answer) => void>();
  browser.on('Target.receivedMessageFromTarget', (received: { sessionId: string; message: string }) => {
    if (received.sessionId !== sessionId) return;
    const { id = 0, result = {} }: { id?: number; result?: Answer } = JSON.parse(received.message);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let lastId = 0;
  return async (method, params) => {
    const id = ++lastId;
    const answered = new Promise<Answer>((resolve) => void waiting.set(id, resolve));
    const message = JSON.stringify({ id, method, params });
    await browser.send('Target.sendMessageToTarget', { sessionId, message });
    return answered;
  };
}
