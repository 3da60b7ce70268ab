import { expect, it, vi } from 'vitest';
import type { Session } from '../../../src/guards/browser/browser-requests.ts';
import { turnPreloadingOff } from '../../../src/guards/browser/preloading.ts';

/** A browser whose pages answer as `answers` says; `undefined` for never. */
function browserOf(answers: (method: string) => object | undefined): { session: Session; sent: string[] } {
  const sent: string[] = [];
  let listener: (received: object) => void = () => undefined;
  const session: Session = {
    async send(method, parameters) {
      sent.push(method);
      if (method !== 'Target.sendMessageToTarget') return { targetId: 'page', sessionId: 'session' };
      const { id, method: asked } = JSON.parse(String(Reflect.get(Object(parameters), 'message')));
      sent.push(asked);
      const result = answers(asked);
      if (result !== undefined) {
        listener({ sessionId: 'session', message: JSON.stringify({ id, result }) });
      }
      return {};
    },
    on: (_event, given: (received: never) => void) => {
      listener = given as (received: object) => void;
    },
    detach: () => Promise.resolve(),
  };
  return { session, sent };
}

it('turns preloading off once a browser, on its page of settings, and closes that page', async () => {
  const { session, sent } = browserOf((method) =>
    method === 'Page.navigate' ? {} : { result: { value: true } },
  );
  await Promise.all([turnPreloadingOff(session), turnPreloadingOff(session)]);
  expect(sent.filter((method) => method === 'Runtime.evaluate')).toHaveLength(1);
  expect(sent.at(-1)).toBe('Target.closeTarget');
});

it('does without where a browser has no page of settings', async () => {
  const { session, sent } = browserOf(() => ({ errorText: 'net::ERR_INVALID_URL' }));
  await turnPreloadingOff(session);
  expect(sent).not.toContain('Runtime.evaluate');
  expect(sent.at(-1)).toBe('Target.closeTarget');
});

it('does without where a browser has no such command, or does not answer', async () => {
  vi.useFakeTimers();
  try {
    await turnPreloadingOff({
      ...browserOf(() => ({})).session,
      send: () => Promise.reject(new Error('no')),
    });
    const { session, sent } = browserOf(() => undefined);
    const turning = turnPreloadingOff(session);
    await vi.advanceTimersByTimeAsync(60_000);
    await turning;
    expect(sent.filter((method) => method === 'Target.createTarget')).toHaveLength(2);
    expect(sent.at(-1)).toBe('Target.closeTarget');
  } finally {
    vi.useRealTimers();
  }
});

it('tries another page where the first does not answer', async () => {
  vi.useFakeTimers();
  try {
    let pages = 0;
    const { session, sent } = browserOf((method) => {
      if (method === 'Page.navigate') return pages++ === 0 ? undefined : {};
      return { result: { value: true } };
    });
    const turning = turnPreloadingOff(session);
    await vi.advanceTimersByTimeAsync(30_000);
    await turning;
    expect(sent.filter((method) => method === 'Runtime.evaluate')).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

it('waits as long as the browser responds, however slow its page is', async () => {
  vi.useFakeTimers();
  try {
    let evaluations = 0;
    const { session, sent } = browserOf((method) => {
      if (method === 'Page.navigate') return {};
      return ++evaluations === 5_000 ? { result: { value: true } } : { result: {} };
    });
    const turning = turnPreloadingOff(session);
    await vi.advanceTimersByTimeAsync(5_000 * 20);
    await turning;
    expect(evaluations).toBe(5_000);
    expect(sent.filter((method) => method === 'Target.createTarget')).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});
