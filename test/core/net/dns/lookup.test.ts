import dns from 'node:dns';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RobotsClient } from '../../../../src/index.ts';
import { NameLookup, type NameLookupOptions } from '../../../../src/core/net/dns/lookup.ts';
import { type DnsReply, type DnsServer, startDnsServer } from '../../../support/dns-server.ts';
import { startSite } from '../../../support/site.ts';
import { occurrence } from '../../fetch/context.ts';
import { opened } from '../../../support/opened.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'canfetch-'));
});
afterAll(() => rm(folder, { recursive: true }));

type Zone = Readonly<Record<string, Readonly<Partial<Record<'A' | 'AAAA', DnsReply>>>>>;

/** A name server that knows the names of `zone`, and no others. */
async function serve(zone: Zone): Promise<DnsServer> {
  const server = await startDnsServer(({ name, type }) => {
    const records = zone[name];
    return records === undefined ? 'no-name' : (records[type] ?? 'no-data');
  });
  opened(server);
  return server;
}

/** What the system was asked, and its answer to everything. */
function system(address: string | undefined): LookupFunction & { readonly asked: string[] } {
  const asked: string[] = [];
  const lookup: LookupFunction = (hostname, options, callback) => {
    asked.push(hostname);
    if (address === undefined) callback(Object.assign(new Error(hostname), { code: 'EAI_AGAIN' }), '', 0);
    else if (options.all === true) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };
  return Object.assign(lookup, { asked });
}

interface Setting extends Omit<NameLookupOptions, 'makeResolver' | 'system' | 'hostsFile' | 'resolverFile'> {
  readonly hosts?: string;
  readonly resolver?: string;
  readonly systemAddress?: string;
}

interface Asker {
  /** Addresses, or the code of the failure. */
  all(name: string, options?: dns.LookupOptions): Promise<string[] | string>;
  readonly lookup: LookupFunction;
  readonly systemAsked: readonly string[];
  readonly hostsFile: string;
  readonly resolverFile: string;
  readonly resolversMade: { readonly count: number };
}

function resolverOf(servers: readonly string[]): dns.Resolver {
  const resolver = new dns.Resolver();
  resolver.setServers(servers);
  return resolver;
}

let files = 0;

async function ask(server: DnsServer | readonly string[], setting: Setting = {}): Promise<Asker> {
  const { hosts = '', resolver = '', systemAddress, ...options } = setting;
  const hostsFile = join(folder, `hosts-${++files}`);
  const resolverFile = join(folder, `resolv-${files}.conf`);
  await writeFile(hostsFile, hosts);
  await writeFile(resolverFile, resolver);
  const fallback = system(systemAddress);
  const resolversMade = { count: 0 };
  const servers = 'address' in server ? [server.address] : server;
  const names = new NameLookup({
    systemKnowsMore: false,
    ...options,
    makeResolver: () => {
      resolversMade.count++;
      return resolverOf(servers);
    },
    hostsFile,
    resolverFile,
    system: fallback,
  });
  opened({ [Symbol.asyncDispose]: async () => names.close() });
  return {
    lookup: names.lookup,
    systemAsked: fallback.asked,
    hostsFile,
    resolverFile,
    resolversMade,
    all: (name, given = {}) =>
      new Promise((resolve) => {
        names.lookup(name, { ...given, all: true }, (error, addresses) => {
          if (error !== null) resolve(error.code ?? '');
          else resolve(Array.isArray(addresses) ? addresses.map(({ address }) => address) : [addresses]);
        });
      }),
  };
}

/** Everything this machine might prefer is taken out of the tests by an order. */
const order = 'ipv4first';

describe('names by DNS', () => {
  it('asks for both families at once and gives all addresses', async () => {
    const server = await serve({
      'a.example': { A: ['93.184.215.14', '93.184.215.15'], AAAA: ['2606:2800::1'] },
    });
    const { all, systemAsked } = await ask(server);
    expect(await all('a.example', { order })).toEqual(['93.184.215.14', '93.184.215.15', '2606:2800::1']);
    expect(server.asked().sort()).toEqual(['A a.example', 'AAAA a.example']);
    expect(systemAsked).toEqual([]);
  });

  it('applies `order`, `verbatim` and `family`', async () => {
    const server = await serve({ 'a.example': { A: ['93.184.215.14'], AAAA: ['2606:2800::1'] } });
    const { all } = await ask(server);
    expect(await all('a.example', { order: 'ipv6first' })).toEqual(['2606:2800::1', '93.184.215.14']);
    expect(await all('a.example', { verbatim: false })).toEqual(['93.184.215.14', '2606:2800::1']);
    const before = server.questions.length;
    expect(await all('a.example', { family: 4 })).toEqual(['93.184.215.14']);
    expect(await all('a.example', { family: 'IPv6' })).toEqual(['2606:2800::1']);
    expect(server.asked().slice(before)).toEqual(['A a.example', 'AAAA a.example']);
  });

  it('prefers IPv6 where this machine has a public IPv6 address, else IPv4', async () => {
    const server = await serve({ 'a.example': { A: ['93.184.215.14'], AAAA: ['2606:2800::1'] } });
    const own = (...addresses: string[]): typeof networkInterfaces => interfacesWith(addresses);
    const order = 'verbatim';
    const six = await ask(server, { interfaces: own('192.168.0.5', '2a00:1450:4001::5') });
    expect(await six.all('a.example', { order })).toEqual(['2606:2800::1', '93.184.215.14']);
    for (const interfaces of [own('192.168.0.5'), own('192.168.0.5', 'fd00::5'), own()]) {
      const { all } = await ask(server, { interfaces });
      expect(await all('a.example', { order })).toEqual(['93.184.215.14', '2606:2800::1']);
    }
  });

  it('with ADDRCONFIG asks only for the families that this machine has an address of', async () => {
    const server = await serve({ 'a.example': { A: ['93.184.215.14'], AAAA: ['2606:2800::1'] } });
    const hints = dns.ADDRCONFIG;
    const asked = async (...addresses: string[]): Promise<string[]> => {
      const before = server.questions.length;
      const { all } = await ask(server, { interfaces: interfacesWith(addresses) });
      expect(await all('a.example', { hints, order })).toHaveLength(server.questions.length - before);
      return server.asked().slice(before).sort();
    };
    expect(await asked('10.0.0.5')).toEqual(['A a.example']);
    expect(await asked('10.0.0.5', 'fe80::5')).toEqual(['A a.example']);
    expect(await asked('fd00::5')).toEqual(['AAAA a.example']);
    expect(await asked('10.0.0.5', 'fd00::5')).toEqual(['A a.example', 'AAAA a.example']);
    expect(await asked()).toEqual(['A a.example', 'AAAA a.example']);
  });

  it('with V4MAPPED gives IPv4 addresses where IPv6 ones are asked for', async () => {
    const server = await serve({
      'four.example': { A: ['93.184.215.14'] },
      'both.example': { A: ['93.184.215.14'], AAAA: ['2606:2800::1'] },
    });
    const { all } = await ask(server);
    const hints = dns.V4MAPPED;
    expect(await all('four.example', { family: 6, hints })).toEqual(['::ffff:93.184.215.14']);
    expect(await all('both.example', { family: 6, hints })).toEqual(['2606:2800::1']);
    expect(await all('both.example', { family: 6, hints: hints | dns.ALL, order: 'ipv6first' })).toEqual([
      '2606:2800::1',
      '::ffff:93.184.215.14',
    ]);
    expect(await all('four.example', { family: 6 })).toBe('ENOTFOUND');
  });

  it('gives one address and its family without `all`', async () => {
    const server = await serve({ 'six.example': { AAAA: ['2606:2800::1'] } });
    const { lookup } = await ask(server);
    const given = await new Promise((resolve) => lookup('six.example', {}, (...values) => resolve(values)));
    expect(given).toEqual([null, '2606:2800::1', 6]);
  });

  it('distinguishes failures, none of which gives an address', async () => {
    const server = await serve({
      'empty.example': {},
      'broken.example': { A: 'failure', AAAA: 'failure' },
      'refused.example': { A: 'refusal', AAAA: 'refusal' },
      'half.example': { A: ['93.184.215.14'], AAAA: 'failure' },
      'half-broken.example': { A: 'no-data', AAAA: 'failure' },
    });
    const { all, systemAsked } = await ask(server, { systemAddress: '93.184.215.99' });
    expect(await all('absent.example')).toBe('ENOTFOUND');
    expect(await all('empty.example')).toBe('ENOTFOUND');
    expect(await all('broken.example')).toBe('ESERVFAIL');
    expect(await all('refused.example')).toBe('EREFUSED');
    expect(await all('half-broken.example')).toBe('ESERVFAIL');
    expect(await all('half.example')).toEqual(['93.184.215.14']);
    expect(systemAsked).toEqual([]);
  });

  it('has the error of `dns.lookup`', async () => {
    const { lookup } = await ask(await serve({}));
    const error = await new Promise((resolve) => lookup('absent.example', {}, resolve));
    expect(error).toMatchObject({ code: 'ENOTFOUND', hostname: 'absent.example', syscall: 'lookup' });
  });

  it('does not wait for a name server that does not answer for one family', async () => {
    const server = await serve({
      'four.example': { A: ['93.184.215.14'], AAAA: 'silence' },
      'six.example': { A: 'silence', AAAA: ['2606:2800::1'] },
    });
    const { all } = await ask(server);
    expect(await all('four.example')).toEqual(['93.184.215.14']);
    expect(await all('six.example')).toEqual(['2606:2800::1']);
  });

  it('shares the answer among concurrent questions, and caches none', async () => {
    let address = 0;
    const server = await startDnsServer(({ type }) =>
      type === 'A' ? [`93.184.215.${++address}`] : 'no-data',
    );
    opened(server);
    const { all } = await ask(server);
    expect(await Promise.all([all('a.example'), all('A.example'), all('a.example', { family: 4 })])).toEqual([
      ['93.184.215.1'],
      ['93.184.215.1'],
      ['93.184.215.2'],
    ]);
    expect(await all('a.example')).toEqual(['93.184.215.3']);
  });

  it('asks about all names concurrently', async () => {
    // No name is answered before two hundred wait: sequential lookups would wait for ever.
    const names = 300;
    const together = 200;
    const waiting: (() => void)[] = [];
    let barrier = true;
    const server = await startDnsServer(({ type }) => {
      if (type === 'AAAA') return 'no-data';
      if (!barrier) return ['127.0.0.1'];
      const reply = new Promise<DnsReply>((resolve) => waiting.push(() => resolve(['127.0.0.1'])));
      if (waiting.length === together) {
        barrier = false;
        for (const release of waiting) release();
      }
      return reply;
    });
    await using site = await startSite({ '/robots.txt': { body: 'User-agent: *\nDisallow: /private' } });
    opened(server);
    const { lookup } = await ask(server);
    // Three hundred at once take their time where the machine is busy.
    await using client = new RobotsClient({ concurrency: 256, deadlineMs: 60_000, lookup });
    const { port } = new URL(site.origin);
    const urls = Array.from({ length: names }, (_, index) => `http://site-${index}.example:${port}/private`);
    const decisions = await Promise.all(urls.map((url) => client.check(url)));
    expect(decisions.filter(({ state }) => state === 'rules').length).toBe(names);
    expect(site.requests.length).toBe(names);
    expect(server.peak()).toBeGreaterThanOrEqual(together);
    expect(new Set(server.questions.map(({ name }) => name)).size).toBe(names);
  });

  it('rejects pending questions when it is closed', async () => {
    const { happened, happens } = occurrence();
    const server = await startDnsServer(() => {
      happens();
      return 'silence';
    });
    opened(server);
    const names = new NameLookup({
      makeResolver: () => resolverOf([server.address]),
      hostsFile: join(folder, 'none'),
    });
    const asked = new Promise((resolve) => names.lookup('a.example', {}, resolve));
    await happened;
    names.close();
    expect(await asked).toMatchObject({ code: 'ECANCELLED' });
  });
});

describe('names that are not looked up in DNS', () => {
  it('resolves an address to itself', async () => {
    const server = await serve({});
    const { all } = await ask(server);
    expect(await all('93.184.215.14')).toEqual(['93.184.215.14']);
    expect(await all('2606:2800::1')).toEqual(['2606:2800::1']);
    expect(await all('93.184.215.14', { family: 6 })).toBe('ENOTFOUND');
    expect(server.questions).toEqual([]);
  });

  it.each(['localhost', 'LOCALHOST.', 'a.b.localhost'])(
    '%s is loopback, whatever the hosts file says',
    async (name) => {
      const server = await serve({});
      const { all, systemAsked } = await ask(server, { hosts: '10.0.0.1 localhost a.b.localhost' });
      expect(await all(name, { order })).toEqual(['127.0.0.1', '::1']);
      expect(await all(name, { family: 6 })).toEqual(['::1']);
      expect([server.questions, systemAsked]).toEqual([[], []]);
    },
  );

  it.each(['intranet', 'printer.local', 'a.b.LOCAL', 'intranet.', 'printer.local.'])(
    '%s is for the system to find',
    async (name) => {
      const server = await serve({});
      const { all, systemAsked } = await ask(server, { systemAddress: '10.0.0.9' });
      expect(await all(name)).toEqual(['10.0.0.9']);
      expect(server.questions).toEqual([]);
      expect(systemAsked).toEqual([name]);
    },
  );

  it.each(['nonexistent.invalid', 'invalid', 'a.onion', ''])('%j is never asked for', async (name) => {
    const server = await serve({});
    const { all, systemAsked } = await ask(server, { systemAddress: '10.0.0.9' });
    expect(await all(name)).toBe('ENOTFOUND');
    expect([server.questions, systemAsked]).toEqual([[], []]);
  });

  it('asks the system while no name server can be reached, and reports its failure', async () => {
    await using gone = await startDnsServer(() => 'silence');
    const { address } = gone;
    await gone[Symbol.asyncDispose]();
    const found = await ask([address], { systemAddress: '93.184.215.14' });
    expect(await found.all('a.example')).toEqual(['93.184.215.14']);
    expect(found.systemAsked).toEqual(['a.example']);
    const failed = await ask([address]);
    expect(await failed.all('a.example')).toBe('EAI_AGAIN');
    const none = await ask([], { systemAddress: '93.184.215.14' });
    expect(await none.all('a.example')).toEqual(['93.184.215.14']);
  });

  it('asks the system about names unknown to DNS where it has other sources', async () => {
    const server = await serve({ 'broken.example': { A: 'failure', AAAA: 'failure' } });
    const { all, systemAsked } = await ask(server, { systemKnowsMore: true, systemAddress: '10.0.0.9' });
    expect(await all('vpn.example')).toEqual(['10.0.0.9']);
    expect(await all('broken.example')).toBe('ESERVFAIL');
    expect(systemAsked).toEqual(['vpn.example']);
  });
});

describe('the hosts file', () => {
  it('comes before DNS, in any case, with all addresses of a name', async () => {
    const server = await serve({ 'a.example': { A: ['93.184.215.14'], AAAA: ['2606:2800::1'] } });
    const hosts = [
      '# comment',
      '10.0.0.1\ta.example  A-alias.example # another',
      '10.0.0.2 a.example',
      '10.0.0.1 a.example',
      'fd00::1 a.example',
      'fe80::1%lo0 scoped.example',
      'nonsense b.example',
      '10.0.0.3',
      '',
    ].join('\r\n');
    const { all } = await ask(server, { hosts });
    expect(await all('A.Example.', { order })).toEqual(['10.0.0.1', '10.0.0.2', 'fd00::1']);
    expect(await all('a-ALIAS.example')).toEqual(['10.0.0.1']);
    expect(await all('scoped.example')).toEqual(['fe80::1%lo0']);
    expect(server.questions).toEqual([]);
    expect(await all('b.example')).toBe('ENOTFOUND');
  });

  it('leaves names that it does not have to DNS', async () => {
    const server = await serve({ 'a.example': { AAAA: ['2606:2800::1'] } });
    const { all } = await ask(server, { hosts: '10.0.0.1 a.example' });
    expect(await all('a.example', { family: 6 })).toEqual(['2606:2800::1']);
  });

  it('names single labels too, before the system is asked', async () => {
    const { all, systemAsked } = await ask(await serve({}), { hosts: '10.0.0.1 intranet' });
    expect(await all('intranet')).toEqual(['10.0.0.1']);
    expect(systemAsked).toEqual([]);
  });

  it('is read again after a change, but not checked at each question', async () => {
    let now = 1_000;
    const { all, hostsFile } = await ask(await serve({}), { hosts: '10.0.0.1 a.example', now: () => now });
    expect(await all('a.example')).toEqual(['10.0.0.1']);
    await writeFile(hostsFile, '10.0.0.2 a.example');
    await utimes(hostsFile, 1, 1);
    now += 4_999;
    expect(await all('a.example')).toEqual(['10.0.0.1']);
    now += 1;
    expect(await all('a.example')).toEqual(['10.0.0.2']);
    await rm(hostsFile);
    now += 5_000;
    expect(await all('a.example')).toBe('ENOTFOUND');
  });

  it('that is too large to hold is left to the system', async () => {
    const server = await serve({ 'a.example': { A: ['93.184.215.14'] } });
    const hosts = '# filler\n'.repeat(500_000);
    const { all, systemAsked } = await ask(server, { hosts, systemAddress: '10.0.0.9' });
    expect(await all('a.example')).toEqual(['10.0.0.9']);
    expect(systemAsked).toEqual(['a.example']);
    expect(server.questions).toEqual([]);
  });
});

describe('search domains', () => {
  const zone: Zone = {
    'a.example': { A: ['93.184.215.14'] },
    'a.example.corp.example': { A: ['10.0.0.1'] },
    'b.svc.cluster.example': { A: ['10.0.0.2'] },
    'b.svc': { A: ['93.184.215.15'] },
    'c.example.corp.example': { A: ['10.0.0.3'] },
  };

  it('come after a name with as many dots as `ndots`', async () => {
    const server = await serve(zone);
    const { all } = await ask(server, { resolver: 'search corp.example\n' });
    expect(await all('a.example', { family: 4 })).toEqual(['93.184.215.14']);
    expect(await all('c.example', { family: 4 })).toEqual(['10.0.0.3']);
    expect(await all('c.example.', { family: 4 })).toBe('ENOTFOUND');
    expect(server.asked()).toEqual(['A a.example', 'A c.example', 'A c.example.corp.example', 'A c.example']);
  });

  it('come before a name with fewer, as in clusters', async () => {
    const server = await serve(zone);
    const resolver = [
      'search overruled.example',
      'search cluster.example CORP.example. . ; comment',
      'options timeout:1 ndots:5 rotate',
    ].join('\n');
    const { all } = await ask(server, { resolver });
    expect(await all('b.svc', { family: 4 })).toEqual(['10.0.0.2']);
    expect(await all('a.example', { family: 4 })).toEqual(['10.0.0.1']);
    expect(server.asked()).toEqual([
      'A b.svc.cluster.example',
      'A a.example.cluster.example',
      'A a.example.corp.example',
    ]);
  });

  it('that do not answer neither hide the name nor count as its absence', async () => {
    const server = await serve({
      'a.example': { A: ['93.184.215.14'] },
      'a.example.corp.example': { A: 'failure' },
      'd.example.corp.example': { A: 'failure' },
    });
    const before = await ask(server, { resolver: 'domain corp.example\noptions ndots:2' });
    expect(await before.all('a.example', { family: 4 })).toEqual(['93.184.215.14']);
    expect(await before.all('d.example', { family: 4 })).toBe('ESERVFAIL');
    const after = await ask(server, { resolver: 'domain corp.example' });
    expect(await after.all('d.example', { family: 4 })).toBe('ESERVFAIL');
  });
});

describe('the name servers', () => {
  it('are read again after the settings of the system have changed', async () => {
    let now = 0;
    const server = await serve({
      'a.example': { A: ['93.184.215.14'] },
      'a.example.corp.example': { A: ['10.0.0.1'] },
    });
    const { all, resolverFile, resolversMade } = await ask(server, { now: () => now });
    expect(await all('a.example', { family: 4 })).toEqual(['93.184.215.14']);
    now += 5_000;
    expect(await all('a.example', { family: 4 })).toEqual(['93.184.215.14']);
    expect(resolversMade.count).toBe(1);
    await writeFile(resolverFile, 'search corp.example\noptions ndots:3');
    now += 5_000;
    expect(await all('a.example', { family: 4 })).toEqual(['10.0.0.1']);
    expect(resolversMade.count).toBe(2);
  });

  it('cannot be asked without a resolver: the system is asked', async () => {
    const fallback = system('93.184.215.14');
    const names = new NameLookup({
      makeResolver: () => {
        throw new Error('no resolver');
      },
      hostsFile: join(folder, 'none'),
      system: fallback,
    });
    const given = await new Promise((resolve) =>
      names.lookup('a.example', {}, (...values) => resolve(values)),
    );
    expect(given).toEqual([null, '93.184.215.14', 4]);
  });
});

describe('without settings', () => {
  it('resolves localhost by the hosts file of this machine, as `dns.lookup` does', async () => {
    const names = new NameLookup();
    const ours = await new Promise((resolve) =>
      names.lookup('localhost', { family: 4 }, (...values) => resolve(values)),
    );
    const theirs = await dns.promises.lookup('localhost', { family: 4 });
    expect(ours).toEqual([null, theirs.address, theirs.family]);
    names.close();
  });
});

function interfacesWith(addresses: readonly string[]): typeof networkInterfaces {
  const outward = addresses.map((address) => ({
    address,
    family: address.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
    internal: false,
  }));
  const loopback = [
    { address: '127.0.0.1', family: 'IPv4' as const, internal: true },
    { address: '::1', family: 'IPv6' as const, internal: true },
  ];
  const common = { netmask: '', mac: '', cidr: null };
  return () => ({
    lo: loopback.map((each) => info({ ...common, ...each })),
    eth0: outward.map((each) => info({ ...common, ...each })),
  });
}

type Info = NonNullable<ReturnType<typeof networkInterfaces>[string]>[number];

function info(each: Omit<Info, 'scopeid' | 'family'> & { family: 'IPv4' | 'IPv6' }): Info {
  return each.family === 'IPv6' ? { ...each, family: 'IPv6', scopeid: 0 } : { ...each, family: 'IPv4' };
}
