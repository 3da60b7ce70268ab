import { describe, expect, it } from 'vitest';
import { pageDirectives, type PageDirectives } from '../../../../src/core/rules/index.ts';
import { cpuMs } from '../../../support/cpu-time.ts';
import fc from '../../../support/fast-check.ts';

const NOTHING: PageDirectives = {
  index: true,
  follow: true,
  archive: true,
  snippet: true,
  imageIndex: true,
  translate: true,
  indexIfEmbedded: false,
  ai: true,
  imageAi: true,
  tdmReserved: false,
  licenses: [],
  sources: [],
};

/** What is said, without where it stands. */
function said(input: Parameters<typeof pageDirectives>[0]): object {
  const { sources: _, ...rest } = pageDirectives(input);
  const plain: Record<string, unknown> = { ...NOTHING };
  return Object.fromEntries(
    Object.entries(rest).filter(([name, value]) => JSON.stringify(plain[name]) !== JSON.stringify(value)),
  );
}
const header = (...lines: string[]): object =>
  said({ headers: { 'X-Robots-Tag': lines }, agent: 'ExampleBot/1.0' });
const meta = (content: string, name = 'robots'): object =>
  said({ meta: [{ name, content }], agent: 'ExampleBot' });

describe('pageDirectives', () => {
  it('marks a tdm-reservation of 0 or 1 as understood, and no other', () => {
    const { sources, tdmReserved } = pageDirectives({ headers: { 'tdm-reservation': '0, 1, 2,' } });
    expect(sources.map(({ value, understood }) => [value, understood])).toEqual([
      ['0', true],
      ['1', true],
      ['2', false],
      ['', false],
    ]);
    expect(tdmReserved).toBe(true);
  });

  it('permits everything for a page without directives', () => {
    expect(pageDirectives({})).toEqual(NOTHING);
    expect(pageDirectives({ headers: new Headers(), meta: [], agent: 'ExampleBot' })).toEqual(NOTHING);
  });

  it.each([
    ['all', {}],
    ['none', { index: false, follow: false }],
    ['NoFollow', { follow: false }],
    ['nocache', { archive: false }],
    ['noimageindex', { imageIndex: false }],
    ['notranslate', { translate: false }],
    ['nosnippet', { snippet: false }],
    ['noindex, indexifembedded', { index: false, indexIfEmbedded: true }],
    ['noai', { ai: false }],
    ['noimageai', { imageAi: false }],
    ['max-snippet: 50', { maxSnippet: 50 }],
    ['max-snippet:0', { maxSnippet: 0, snippet: false }],
    ['max-snippet:-1', {}],
    ['max-snippet:1e3', {}],
    ['max-image-preview:Standard', { maxImagePreview: 'standard' }],
    ['max-image-preview:large, max-image-preview:none', { maxImagePreview: 'none' }],
    ['max-snippet:5 max-video-preview:7 nofollow', { maxSnippet: 5, maxVideoPreview: 7, follow: false }],
    ['noindex: false', {}],
    [' , ,noindex,,', { index: false }],
  ])('reads "%s" alike in the header and in a meta tag', (text, expected) => {
    expect(header(text)).toEqual(expected);
    expect(meta(text)).toEqual(expected);
  });

  it.each([
    ['25 Jun 2010 15:00:00 PST', '2010-06-25T23:00:00Z'],
    ['Fri, 25 Jun 2010 15:00:00 +0200', '2010-06-25T13:00:00Z'],
    ['25 Jun 10 15:00 GMT', '2010-06-25T15:00:00Z'],
    ['Friday, 25-Jun-10 15:00:00 EST', '2010-06-25T20:00:00Z'],
    ['25-Aug-2007 15:00:00 EST', '2007-08-25T20:00:00Z'],
    ['2010-06-25T15:00:00+02', '2010-06-25T13:00:00Z'],
    ['2010-06-25T15:00', '2010-06-25T15:00:00Z'],
    ['2020-09-21', '2020-09-21T00:00:00Z'],
    ['2010-06-25T15:00:00+02:00', '2010-06-25T13:00:00Z'],
    ['2010-06-25 15:00:00 PDT', '2010-06-25T22:00:00Z'],
    ['29 February 2028', '2028-02-29T00:00:00Z'],
  ])('reads the date "%s", and the directives after it', (date, expected) => {
    const unavailableAfter = Date.parse(expected);
    expect(header(`noindex, unavailable_after: ${date}, nofollow`)).toEqual({
      index: false,
      follow: false,
      unavailableAfter,
    });
    expect(meta(`unavailable_after:${date}`)).toEqual({ unavailableAfter });
  });

  it.each([
    ...'tomorrow|2010-02-30|31 Foo 2010|2010-06-25T25:00|2010-06-25 15:00 CEST|2010-06-25T15:00:00+2|2010-06-25T15:00:00+02:'.split(
      '|',
    ),
    '25 Jun 2010 or so',
    '',
  ])('ignores the date "%s", and reads on after its comma', (date) => {
    const { unavailableAfter, follow, sources } = pageDirectives({
      headers: [['x-robots-tag', `unavailable_after: ${date}, nofollow`]],
    });
    expect({ unavailableAfter, follow }).toEqual({ unavailableAfter: undefined, follow: false });
    expect(sources[0]).toEqual({
      from: 'header',
      field: 'x-robots-tag',
      directive: 'unavailable_after',
      value: date,
      understood: false,
    });
  });

  it('takes the earliest of several dates', () => {
    expect(
      said({
        headers: [['X-Robots-Tag', 'unavailable_after: 2021-01-01']],
        meta: [{ name: 'robots', content: 'unavailable_after: 2020-01-01' }],
      }),
    ).toEqual({ unavailableAfter: Date.UTC(2020, 0, 1) });
  });

  describe('for agents', () => {
    it('applies the lines for the agent and for all agents, and no others', () => {
      const lines = ['otherbot: noindex', 'examplebot: nofollow', 'noarchive', '*: nosnippet'];
      expect(header(...lines)).toEqual({ follow: false, archive: false, snippet: false });
      expect(said({ headers: { 'x-robots-tag': lines } })).toEqual({ archive: false, snippet: false });
    });

    it('applies the agent of a line up to the next agent', () => {
      expect(header('noarchive, otherbot: noindex, nofollow, ExampleBot: nosnippet, noai')).toEqual({
        archive: false,
        snippet: false,
        ai: false,
      });
    });

    it('applies the agent to an unscoped line that was joined to a scoped one', () => {
      const headers = new Headers();
      headers.append('X-Robots-Tag', 'otherbot: nofollow');
      headers.append('X-Robots-Tag', 'noindex');
      expect(said({ headers, agent: 'ExampleBot' })).toEqual({});
      expect(header('otherbot: nofollow', 'noindex')).toEqual({ index: false });
    });

    it('reads a name with a value in the middle of a line as an agent only before a directive', () => {
      expect(header('noarchive, max-shine: 3, noindex')).toEqual({ archive: false, index: false });
      expect(header('max-shine: 3, noindex')).toEqual({ index: false });
      expect(header('otherbot: max-snippet: 3, noindex')).toEqual({});
    });

    it('reads a field that an object has in two cases, both times', () => {
      const found = pageDirectives({
        headers: { 'X-Robots-Tag': 'noindex', 'x-robots-tag': ['nofollow', 'noai'] },
      });
      expect(found).toMatchObject({ index: false, follow: false, ai: false });
    });

    it('reads meta tags by their names, in any case', () => {
      expect(meta('noindex', 'EXAMPLEBOT')).toEqual({ index: false });
      expect(meta('noindex', 'otherbot')).toEqual({});
      expect(meta('noindex', 'description')).toEqual({});
    });

    it('applies the directives for any of a list of agents', () => {
      const headers = [['X-Robots-Tag', 'googlebot: noindex']] as const;
      expect(said({ headers, agent: ['Googlebot-News', 'Googlebot'] })).toEqual({ index: false });
    });
  });

  it.each([
    ['Headers', new Headers({ 'X-Robots-Tag': 'noindex' })],
    ['a record', { 'x-robots-tag': ['all', 'noindex'], 'set-cookie': undefined }],
  ])('takes the header as %s', (_, headers) => {
    expect(said({ headers })).toEqual({ index: false });
  });

  it('reads reservations of text and data mining from the header and from meta tags', () => {
    const policy = 'https://example.com/policy.json';
    expect(said({ headers: { 'TDM-Reservation': '1', 'tdm-policy': policy } })).toEqual({
      tdmReserved: true,
      tdmPolicy: policy,
    });
    expect(said({ meta: [{ name: 'tdm-reservation', content: ' 1 ' }] })).toEqual({ tdmReserved: true });
    expect(said({ headers: { 'tdm-reservation': '0, 1' } })).toEqual({ tdmReserved: true });
    expect(said({ headers: { 'tdm-reservation': ['0', 'yes'] } })).toEqual({});
  });

  it('reads links to licences', () => {
    const link = '</rsl.xml>; rel="license"; type="application/rsl+xml", </next>; rel=next';
    expect(said({ headers: { link } })).toEqual({ licenses: ['/rsl.xml'] });
  });

  it('reports unknown directives, and the source of each', () => {
    const { sources } = pageDirectives({
      headers: [['X-Robots-Tag', 'examplebot: noodp, max-snippet: many']],
      meta: [
        { name: 'robots', content: 'noindex' },
        { name: null, content: 'x' },
      ],
      agent: 'ExampleBot',
    });
    expect(sources).toEqual([
      { from: 'header', field: 'x-robots-tag', agent: 'examplebot', directive: 'noodp', understood: false },
      {
        from: 'header',
        field: 'x-robots-tag',
        agent: 'examplebot',
        directive: 'max-snippet',
        value: 'many',
        understood: false,
      },
      { from: 'meta', field: 'robots', directive: 'noindex', understood: true },
    ]);
  });

  it('bounds the number of sources, and counts the others', () => {
    const found = pageDirectives({
      headers: { 'x-robots-tag': `${'x,'.repeat(200)}noindex,${'y'.repeat(9_000)}` },
    });
    expect({ sources: found.sources.length, omitted: found.omitted, index: found.index }).toEqual({
      sources: 100,
      omitted: 102,
      index: false,
    });
    const [long] = pageDirectives({ headers: { 'x-robots-tag': 'y'.repeat(9_000) } }).sources;
    expect(long?.directive.length).toBe(1_000);
  });

  const words = fc.constantFrom(
    ...'noindex|none|all|nosnippet|max-snippet: 3|max-snippet:-1|noai|foo|foo: bar'.split('|'),
    ...'unavailable_after: Fri, 25 Jun 2010 15:00:00 PST|unavailable_after: never'.split('|'),
    'indexifembedded',
  );
  const line = fc
    .array(fc.oneof({ weight: 4, arbitrary: words }, fc.string()), { maxLength: 6 })
    .map((all) => all.join(', '));

  it('keeps a restriction, with any further directives', () => {
    fc.assert(
      fc.property(fc.array(line), fc.array(line), (some, more) => {
        const few = pageDirectives({ headers: { 'x-robots-tag': some } });
        const all = pageDirectives({ headers: { 'x-robots-tag': [...some, ...more] } });
        for (const name of ['index', 'follow', 'snippet', 'ai'] as const)
          expect(all[name] && !few[name]).toBe(false);
        for (const name of ['maxSnippet', 'unavailableAfter'] as const)
          expect(all[name] ?? Infinity).toBeLessThanOrEqual(few[name] ?? Infinity);
      }),
    );
  });

  it('does not depend on the order of lines and tags', () => {
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const tags = lines.map((content) => ({ name: 'robots', content }));
        expect(said({ headers: { 'x-robots-tag': [...lines].reverse() } })).toEqual(
          said({ headers: { 'x-robots-tag': lines } }),
        );
        expect(said({ meta: [...tags].reverse() })).toEqual(said({ meta: tags }));
      }),
    );
  });

  it('bounds the URL of the text and data mining policy', () => {
    const long = pageDirectives({
      headers: { 'tdm-policy': `https://example.com/${'x'.repeat(10_000_000)}` },
    });
    expect(long).not.toHaveProperty('tdmPolicy');
    expect(long.sources).toMatchObject([{ field: 'tdm-policy', understood: false }]);
    expect(JSON.stringify(long).length).toBeLessThan(2_000);
  });

  it.each([
    ...'a|a |a:|:|,| |a,|unavailable_after:|unavailable_after: a '.split('|'),
    ...'unavailable_after: 25 Jun 10 |x: noindex,|<,|<a>;b="\\|<a>;b="|a: |a :|"\\"|\t,'.split('|'),
    'unavailable_after: Friday, 25-Jun-10 15:00:00 GMT,',
    ...'unavailable_after: 25 Jun 2010    |otherbot: noindex, '.split('|'),
  ])('takes time in proportion to the length of "%s" repeated', (part) => {
    const time = (length: number): number =>
      cpuMs(() => {
        const text = part.repeat(length / part.length);
        pageDirectives({
          headers: { 'x-robots-tag': text, link: text, 'tdm-reservation': text },
          meta: [{ name: 'robots', content: text }],
        });
      });
    time(10_000);
    expect(time(160_000)).toBeLessThan(16 * 5 * Math.max(2, time(10_000)));
  });
});
