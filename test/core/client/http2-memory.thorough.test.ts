import { expect, it } from 'vitest';
import { compileScript, startWorker } from '../../support/workers.ts';

// RFC 9113 §8.2.2: "Any message containing connection-specific header fields MUST be treated as malformed". Node ends the
// process when the session of such a message is collected before its stream: with a small young generation, soon.
it('a site that sends a connection-specific field over HTTP/2 does not end the process', async () => {
  using script = compileScript(new URL('http2-crawler.ts', import.meta.url));
  const worker = startWorker(script, ['25', '8'], { env: { NODE_OPTIONS: '--max-semi-space-size=1' } });
  worker.end();
  expect(await worker.next()).toEqual(['false ERR_HTTP2_STREAM_ERROR']);
  expect(await worker.ended()).toMatchObject({ code: 0 });
}, 60_000);
