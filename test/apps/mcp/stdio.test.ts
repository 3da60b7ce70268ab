import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { serveAgents } from '../../../src/apps/cli/mcp/run.ts';
import { VERSION } from '../../../src/core/base/values.ts';
import { cli, Collector } from '../cli/session.ts';
import { eventually } from '../../support/eventually.ts';
import { openedFolder } from '../../support/opened.ts';
import { answer, startSite } from '../../support/site.ts';
import { startHost } from './host.ts';

const request = (id: number, method: string, params: object): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const HELLO =
  request(1, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  }) + '{"jsonrpc":"2.0","method":"notifications/initialized"}\n';

describe('canfetch mcp', () => {
  it('writes evidence of what it decides with --evidence', async () => {
    const file = join(openedFolder(), 'evidence.ndjson');
    await using site = await startSite({ '/robots.txt': { body: 'User-agent: *\nDisallow: /' } });
    const call = request(2, 'tools/call', { name: 'check_url', arguments: { url: site.url('/') } });
    await cli(['mcp', '--allow-private', '--evidence', file], { stdin: HELLO + call });
    const { stdout } = await cli(['replay', file]);
    expect(stdout).toBe('1 decision of 1 run: all as recorded\n');
  });

  it('ends when standard input does, with the calls before it answered', async () => {
    await using site = await startSite((_, response) => {
      setTimeout(() => answer(response, { body: 'User-agent: *\nDisallow: /' }), 50);
    });
    const call = request(2, 'tools/call', { name: 'check_url', arguments: { url: site.url('/') } });
    const { code, stdout, stderr } = await cli(['mcp', '--allow-private'], { stdin: HELLO + call });
    expect([code, stderr]).toEqual([0, '']);
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map(({ id }) => id)).toEqual([1, 2]);
    expect(answers[0].result.serverInfo).toMatchObject({ name: 'canfetch', version: VERSION });
    expect(answers[1].result.structuredContent).toMatchObject({ allowed: false, reason: 'rule' });
  });

  it('ends soon after standard input, though a call hangs', async () => {
    await using site = await startSite((message, response) => {
      if (message.url === '/robots.txt') answer(response, { status: 404 });
    });
    const call = request(2, 'tools/call', { name: 'fetch_page', arguments: { url: site.url('/hangs') } });
    const startedAt = performance.now();
    const { code, stdout } = await cli(['mcp', '--allow-private'], { stdin: HELLO + call });
    // Hosts kill a process that has not ended two seconds later.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    await eventually(() => expect(site.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/hangs']));
    await site.left();
  });

  it('ends by Ctrl-C with 130, though a call hangs', async () => {
    await using site = await startSite(() => undefined);
    const interrupt = new AbortController();
    await using host = await startHost(['--allow-private'], { signal: interrupt.signal });
    const call = host.call('check_url', { url: site.url('/') }).catch((error: unknown) => error);
    await eventually(() => expect(site.requests).toHaveLength(1));
    interrupt.abort(new Error('Interrupted'));
    const { code, stderr } = await host.ended;
    expect([code, stderr]).toEqual([130, '']);
    host.stdout.end();
    await host.client.close();
    expect(await call).toBeInstanceOf(Error);
    await site.idle();
  });

  it('ends when the host does not read any more', async () => {
    const host = await startHost();
    host.stdout.destroy();
    expect((await host.ended).code).toBe(0);
  });

  it('goes on after a line that is no message, and logs it to standard error', async () => {
    const ping = request(7, 'ping', {});
    const { code, stdout, stderr } = await cli(['mcp'], {
      stdin: `${HELLO}not JSON\n{"a":1}\n[]\n\n${ping}`,
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^canfetch: /);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual([1, 7]);
  });

  it('answers arguments that are no object with an error of the protocol, and goes on', async () => {
    const calls = [null, 'https://example.com/', ['x']].map((given, at) =>
      request(at + 2, 'tools/call', { name: 'check_url', arguments: given }),
    );
    const { code, stdout } = await cli(['mcp'], { stdin: HELLO + calls.join('') + request(7, 'ping', {}) });
    expect(code).toBe(0);
    const responses = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .sort((one, other) => one.id - other.id);
    const refused = { error: { code: -32602, message: expect.stringContaining('arguments') } };
    expect(responses.slice(1)).toMatchObject([refused, refused, refused, { id: 7, result: {} }]);
  });

  it('says how to install the SDK where it is missing', async () => {
    const session = {
      argv: [],
      env: {},
      stdin: new PassThrough(),
      stdout: new Collector(),
      stderr: new Collector(),
      signal: new AbortController().signal,
    };
    const given = { switches: new Set<string>(), values: new Map<string, string[]>(), operands: [] };
    await expect(serveAgents(given, session, async () => undefined)).rejects.toThrow(
      'Expected the package @modelcontextprotocol/server, which is not installed; run `npm install @modelcontextprotocol/server`',
    );
  });

  it('tells people who start it by hand what it waits for', async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    stdin.end();
    const { code, stderr } = await cli(['mcp', '-a', 'ExampleAgent'], { stdin });
    expect(code).toBe(0);
    expect(stderr).toBe(
      'canfetch: waits for an MCP host on standard input, as ExampleAgent; see canfetch mcp --help\n',
    );
  });

  it.each<[string, string[], string]>([
    ['an operand', ['https://example.com/'], 'Expected no operand, got "https://example.com/"'],
    ['no name for an agent', ['-a', '*'], 'Expected --agent to name who fetches pages, got "*"'],
    [
      'an unknown purpose',
      ['--purpose', 'fun'],
      'Expected --purpose to be one of train-ai, ai-use, ai-input, search',
    ],
    ['a proxy for public addresses', ['--proxy', 'http://127.0.0.1:1'], 'Expected no proxy'],
  ])('refuses %s', async (_name, argv, message) => {
    const { code, stdout, stderr } = await cli(['mcp', ...argv]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it('fetches pages over the proxy, too', async () => {
    await using proxy = await startSite({
      'http://site.example/robots.txt': { body: 'User-agent: *\nDisallow: /private' },
      'http://site.example/page': { body: 'by the proxy', headers: { 'content-type': 'text/plain' } },
    });
    await using host = await startHost(['--allow-private', '--proxy', proxy.origin]);
    const { structuredContent } = await host.call('fetch_page', { url: 'http://site.example/page' });
    expect(structuredContent).toMatchObject({ text: 'by the proxy' });
    expect(proxy.requests).toHaveLength(2);
  });
});
