import { isIP } from 'node:net';
import { expect, it } from 'vitest';
import { fetchTransport } from '../../../src/core/fetch/fetch-transport.ts';
import { undiciTransport } from '../../../src/core/fetch/undici-transport.ts';
import type { AddressPolicy } from '../../../src/core/net/address-policy.ts';
import fc from '../../support/fast-check.ts';
import { internet, lookupIn } from '../../support/internet.ts';
import { runs } from '../../support/thorough.ts';
import { context, RULES } from '../fetch/context.ts';

/** An address, and whether it is public: by its range, as the IANA registries have it. */
interface Address {
  readonly text: string;
  readonly isPublic: boolean;
}

/** Four bytes of an address; a number is fixed, a pair are bounds. */
const v4 = (...parts: readonly (number | readonly [number, number])[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...parts.map((part) =>
        typeof part === 'number' ? fc.constant(part) : fc.integer({ min: part[0], max: part[1] }),
      ),
    )
    .map((bytes) => bytes.join('.'));

const ANY = [0, 255] as const;
const publicV4 = fc.oneof(
  v4([1, 9], ANY, ANY, ANY),
  v4([11, 99], ANY, ANY, ANY),
  v4([193, 197], ANY, ANY, ANY),
  v4([204, 223], ANY, ANY, ANY),
);
const privateV4 = fc.oneof(
  v4(10, ANY, ANY, ANY),
  v4(172, [16, 31], ANY, ANY),
  v4(192, 168, ANY, ANY),
  v4(127, ANY, ANY, ANY),
  v4(169, 254, ANY, ANY),
  v4(100, [64, 127], ANY, ANY),
  v4(0, ANY, ANY, ANY),
  v4(198, [18, 19], ANY, ANY),
  v4([240, 255], ANY, ANY, ANY),
);
const hex = (text: string): string =>
  text
    .split('.')
    .map(Number)
    .reduce((all, byte, at) => `${all}${at === 2 ? ':' : ''}${byte.toString(16).padStart(2, '0')}`, '');
/** IPv6 addresses that carry an IPv4 address: mapped, NAT64, 6to4. */
const carrying = (inner: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(inner, fc.constantFrom('::ffff:#', '64:ff9b::#', '2002:#::1'))
    .map(([text, form]) => form.replace('#', hex(text)));
const word = fc.integer({ min: 1, max: 0xffff }).map((value) => value.toString(16));
const publicV6 = fc
  .tuple(fc.constantFrom('2606:4700', '2a00:1450', '2620:fe'), word)
  .map(([start, end]) => `${start}::${end}`);
const privateV6 = fc.oneof(
  fc.constant('::1'),
  fc
    .tuple(fc.constantFrom('fc00', 'fdab', 'fe80', 'febf', '2001:db8', 'ff02'), word)
    .map(([start, end]) => `${start}::${end}`),
);

const address: fc.Arbitrary<Address> = fc.oneof(
  fc.oneof(publicV4, publicV6, carrying(publicV4)).map((text) => ({ text, isPublic: true })),
  fc.oneof(privateV4, privateV6, carrying(privateV4)).map((text) => ({ text, isPublic: false })),
);

/** A host of a hop: a literal address, or a name and the addresses that it resolves to, the first time and later. */
interface Host {
  readonly addresses: readonly Address[];
  readonly later: readonly Address[];
  readonly isName: boolean;
}

const host: fc.Arbitrary<Host> = fc.oneof(
  address.map((only) => ({ addresses: [only], later: [only], isName: false })),
  fc
    .tuple(
      fc.array(address, { minLength: 1, maxLength: 3 }),
      fc.array(address, { minLength: 1, maxLength: 2 }),
    )
    .map(([addresses, later]) => ({ addresses, later, isName: true })),
);

const chains = fc.record({
  policy: fc.constantFrom<AddressPolicy>('no-public-to-private', 'public-only', 'any'),
  hosts: fc.array(host, { minLength: 1, maxLength: 5 }),
  /** Whether a hop has the name of the one before, which may resolve to other addresses by now. */
  repeats: fc.array(fc.boolean(), { maxLength: 5 }),
});

/** What is connected to, hop by hop, and whether it ends with a refusal. Says nothing of how that is found out. */
function judge(policy: AddressPolicy, hops: readonly Host[]): { dialled: Address[]; refused: boolean } {
  const dialled: Address[] = [];
  const lookups = new Map<Host, number>();
  for (const hop of hops) {
    const before = lookups.get(hop) ?? 0;
    lookups.set(hop, before + 1);
    const mustBePublic =
      policy === 'public-only' || (policy !== 'any' && dialled.some(({ isPublic }) => isPublic));
    const candidates = before === 0 ? hop.addresses : hop.later;
    const chosen = mustBePublic ? candidates.find(({ isPublic }) => isPublic) : candidates[0];
    if (chosen === undefined) return { dialled, refused: true };
    dialled.push(chosen);
  }
  return { dialled, refused: false };
}

const { site, fetch } = context(fetchTransport(globalThis.fetch));

it('redirects lead to the addresses that the policy allows, and to no others', async () => {
  let origins: string[] = [];
  const server = await site((request, response) => {
    const next = Number(/\d+/.exec(request.url ?? '')?.[0] ?? 0) + 1;
    if (next < origins.length)
      response.writeHead(302, { location: `${origins[next]}/${next}`, connection: 'close' }).end();
    else response.writeHead(200, { connection: 'close' }).end(RULES);
  });
  const { port } = new URL(server.origin);
  await fc.assert(
    fc.asyncProperty(chains, async ({ policy, hosts, repeats }) => {
      const hops = hosts.map((each, at) => (repeats[at] === true && at > 0 ? hosts[at - 1]! : each));
      const nameOf = (each: Host): string => {
        const [{ text } = { text: '' }] = each.addresses;
        if (each.isName) return `host${hosts.indexOf(each)}.test`;
        return isIP(text) === 6 ? `[${text}]` : text;
      };
      origins = hops.map((each) => `http://${nameOf(each)}:${port}`);
      const names = hosts.map((each) => [
        nameOf(each),
        (before: number) => (before === 0 ? each.addresses : each.later).map(({ text }) => text),
      ]);
      const { buildConnector, dialled } = internet();
      const transport = undiciTransport({ lookup: lookupIn(Object.fromEntries(names)), buildConnector });
      const outcome = await fetch(origins[0]!, { transport, addressPolicy: policy });
      await transport.close?.();
      const expected = judge(policy, hops);
      expect(
        dialled.map((text) => new URL(isIP(text) === 6 ? `http://[${text}]` : `http://${text}`).host),
      ).toEqual(
        expected.dialled.map(
          ({ text }) => new URL(isIP(text) === 6 ? `http://[${text}]` : `http://${text}`).host,
        ),
      );
      expect(outcome.kind).toBe(expected.refused ? 'unreachable' : 'success');
      if (outcome.kind === 'unreachable') expect(outcome.error).toBe('ERR_ROBOTS_ADDRESS_REFUSED');
    }),
    { numRuns: runs(150) },
  );
}, 600_000);
