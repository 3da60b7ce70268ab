/** Runs `fetch-tool.js` in Bun, and calls its tool as a host of MCP does. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { fakeOrigin } from 'canfetch/testing';

const sites = [
  await fakeOrigin({
    robots: 'User-agent: ExampleTool\nDisallow: /private',
    pages: { '/page': { status: 200, body: 'a page' }, '/moved': { redirect: '/private' } },
  }),
  await fakeOrigin({ robots: { status: 503 } }),
];
const [site, failing] = sites;
const host = new Client({ name: 'host', version: '1.0.0' });
await host.connect(
  new StdioClientTransport({ command: process.env.BUN ?? 'bun', args: ['fetch-tool.js'], stderr: 'inherit' }),
);
const call = async (url) => {
  const { content, isError } = await host.callTool({ name: 'fetch_text', arguments: { url } });
  return { text: content[0].text, isError };
};
assert.deepEqual(await call(site.url('/page')), { text: 'a page', isError: false });
for (const path of ['/private', '/moved']) {
  const { text, isError } = await call(site.url(path));
  assert.equal(isError, true);
  assert.match(text, /line 2: "disallow: \/private"/);
}
assert.match((await call(failing.url('/page'))).text, /is unreachable .*retry after/);
assert.deepEqual(
  [site.robotsCount, site.count('/page'), site.count('/private'), failing.pageCount],
  [1, 1, 0, 0],
);
await host.close();
for (const each of sites) await each[Symbol.asyncDispose]();
