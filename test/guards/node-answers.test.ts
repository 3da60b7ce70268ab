import { channel } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it } from 'vitest';
import { Hop } from '../../src/guards/shared/hop.ts';
import { NodeAnswers } from '../../src/guards/shared/node-answers.ts';
import type { PageAnswer } from '../../src/core/pacing/index.ts';

const headers = channel('http.client.response.finish');

describe('headers of answers that Node publishes', () => {
  const answers = new NodeAnswers();
  const expected: Hop[] = [];

  afterEach(() => {
    for (const hop of expected.splice(0)) answers.forget(hop);
    expect(headers.hasSubscribers).toBe(false);
  });

  /** A request with a slot, and the statuses that its slot is told. */
  function sent(url: string): (number | undefined)[] {
    const statuses: (number | undefined)[] = [];
    const hop = new Hop(url);
    const nothing = (): void => undefined;
    hop.slot = {
      waitedMs: 0,
      leaveNow: () => true,
      leave: async () => undefined,
      release: nothing,
      answered: ({ status }: PageAnswer) => void statuses.push(status),
      done: nothing,
    };
    expected.push(hop);
    answers.expect(hop);
    return statuses;
  }

  const come = (host: string, path: string): void =>
    headers.publish({
      request: { protocol: 'http:', path, getHeader: () => host },
      response: { statusCode: 200, headers: {} },
    });

  it('are told to the request for that URL, once, the newest one first', () => {
    const told = ['/a', '/a', '/b'].map((path) => sent(`http://site.example:80${path}#top`));
    come('site.example', '/a');
    come('site.example', '/c');
    expect(told).toEqual([[], [200], []]);
    come('site.example', '/a');
    come('site.example', '/a');
    expect(told).toEqual([[200], [200], []]);
  });

  it('are no longer expected for the oldest of very many requests for one URL', () => {
    const told = Array.from({ length: 101 }, () => sent('http://site.example/'));
    for (let count = 0; count < 101; count++) come('site.example', '/');
    expect([told[0], told[1], told[100]]).toEqual([[], [200], [200]]);
  });

  it('are known by the whole URL that a proxy is sent', () => {
    const told = sent('http://site.example/a?b');
    come('proxy.example', 'http://site.example/a?b');
    expect(told).toEqual([200]);
  });

  it('are no longer expected for the oldest of very many requests', () => {
    const [oldest, second] = Array.from({ length: 10_001 }, (_, page) => sent(`http://site.example/${page}`));
    come('site.example', '/0');
    come('site.example', '/1');
    expect([oldest, second]).toEqual([[], [200]]);
  });
});
