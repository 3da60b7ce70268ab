import { describe, expect, it } from 'vitest';
import { ProxyExceptions } from '../../../src/core/net/proxy-dispatcher.ts';

describe('NO_PROXY', () => {
  it.each<[string, string, boolean]>([
    ['', 'http://example.com/', false],
    ['*', 'http://example.com/', true],
    ['example.com', 'http://example.com/', true],
    ['example.com', 'http://a.b.example.com/', true],
    ['.example.com', 'http://example.com/', true],
    ['*.example.com', 'http://a.example.com/', true],
    ['example.com', 'http://notexample.com/', false],
    ['example.com', 'http://example.com.evil.test/', false],
    ['EXAMPLE.com.', 'http://example.com/', true],
    ['example.com', 'http://example.com./', true],
    ['a.test, b.test  c.test', 'http://c.test/', true],
    ['example.com:8080', 'http://example.com:8080/', true],
    ['example.com:8080', 'http://example.com/', false],
    ['example.com:443', 'https://example.com/', true],
    ['127.0.0.1', 'http://127.0.0.1:81/', true],
    ['10.0.0.0/8', 'http://10.1.2.3/', true],
    ['10.0.0.0/8', 'http://11.1.2.3/', false],
    ['0.0.0.1', 'http://10.0.0.1/', false],
    ['0.1', 'http://10.0.0.1/', false],
    ['::1', 'http://[::1]/', true],
    ['[::1]', 'http://[::1]/', true],
    ['fd00::/8', 'http://[fd12::1]/', true],
    ['10.0.0.0/33', 'http://10.0.0.0/', false],
  ])('%j for %s', (noProxy, url, excepted) => {
    expect(new ProxyExceptions(noProxy).has(new URL(url))).toBe(excepted);
  });
});
