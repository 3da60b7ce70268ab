import { describe, expect, it } from 'vitest';
import { profiles } from '../../src/index.ts';
import { googleSituations } from '../support/tables.ts';
import { DAY, follower, HOUR, LEAST_DEADLINE_MS, reader, site } from './follower.ts';
import * as page from './google-page.ts';

/**
 * "Google, robots.txt फ़ाइल के निर्देशों को कैसे समझता है", an older edition of Google's page, in Hindi. The profile
 * `google-legacy` stands for it. Sentences are quoted as they are, each with its sense in English.
 */
const PROFILE = 'google-legacy';
const RULES = 'User-agent: *\nDisallow: /private';

describe('फ़ाइल की लोकेशन और वह कहां-कहां मान्य है (location and validity)', () => {
  it('"robots.txt फ़ाइल में दिए गए नियम सिर्फ़ उन होस्ट, प्रोटोकॉल, और पोर्ट नंबर पर लागू होते हैं जहां robots.txt फ़ाइल होस्ट की गई हो." (only for that host, protocol and port)', () =>
    page.isValidFor(
      PROFILE,
      'http://example.com/robots.txt',
      ['http://example.com/a'],
      ['http://example.org/a', 'https://example.com/a', 'ftp://example.com/a', 'http://example.com:8080/a'],
    ));
});

describe('Robots.txt के यूआरएल के उदाहरण (examples of URLs)', () => {
  const examples: readonly [file: string, valid: string[], others: string[]][] = [
    [
      'http://example.com/robots.txt',
      ['http://example.com/', 'http://example.com/folder/file'],
      ['http://other.example.com/', 'https://example.com/', 'http://example.com:8181/'],
    ],
    [
      'http://www.example.com/robots.txt',
      ['http://www.example.com/'],
      ['http://example.com/', 'http://shop.www.example.com/', 'http://www.shop.example.com/'],
    ],
    // "क्रॉलर, सबडायरेक्ट्री में robots.txt फ़ाइलें नहीं खोजते हैं." (crawlers do not look in subdirectories)
    ['http://example.com/folder/robots.txt', [], ['http://example.com/', 'http://example.com/folder/file']],
    // As in the current edition, the punycode listed lacks the "www." of the file.
    [
      'http://www.exämple.com/robots.txt',
      ['http://www.exämple.com/', 'http://www.xn--exmple-cua.com/'],
      ['http://www.example.com/', 'http://xn--exmple-cua.com/'],
    ],
    ['ftp://example.com/robots.txt', ['ftp://example.com/'], ['http://example.com/']],
    ['http://212.96.82.21/robots.txt', ['http://212.96.82.21/'], ['http://example.com/']],
    [
      'http://example.com:80/robots.txt',
      ['http://example.com:80/', 'http://example.com/'],
      ['http://example.com:81/'],
    ],
    ['http://example.com:8181/robots.txt', ['http://example.com:8181/'], ['http://example.com/']],
  ];
  it.each(examples)('%s: "मान्य यूआरएल" and "अमान्य यूआरएल" (valid and not valid for)', (file, valid, others) =>
    page.isValidFor(PROFILE, file, valid, others),
  );
});

describe('गड़बड़ियों और एचटीटीपी स्टेटस कोड को हैंडल करना (errors and status codes)', () => {
  // Unlike the current edition, which excepts 429.
  it('"4xx गड़बड़ियां मिलने पर, Google के क्रॉलर यह मानते हैं कि मान्य robots.txt फ़ाइल मौजूद नहीं है. इसका मतलब है कि वे बिना किसी पाबंदी के क्रॉल कर सकते हैं." (on 4xx there is no file: no restrictions)', () =>
    page.opensTheSite(PROFILE, [400, 401, 403, 404, 410, 418, 429, 451, 499]));

  it('"Google, सर्वर की गड़बड़ियों को कुछ समय के लिए ऐसे देखता है, जैसे कि पूरी साइट के लिए अनुमति न मिली हो." (server errors disallow the whole site for some time)', async () => {
    for (const status of [500, 502, 503, 599]) {
      const server = await site([{ status, body: 'User-agent: *\nAllow: /' }]);
      const { robots } = follower(PROFILE);
      for (const path of ['/', '/a'])
        expect(await robots.check(server.url(path))).toMatchObject(page.unreachable);
    }
    // The whole site, and for all of the 30 days, even with a copy: in the current edition the copy serves after 12
    // hours, here only when the 30 days are over.
    const server = await site([RULES, { status: 500 }]);
    const { robots, clock } = follower(PROFILE);
    await robots.check(server.url('/'));
    await clock.advance(DAY);
    for (const ms of [0, 12 * HOUR, 29 * DAY]) {
      await clock.advance(ms);
      expect(await robots.check(server.url('/'))).toMatchObject(page.unreachable);
    }
  });

  it('"अगर robots.txt फ़ाइल को 30 से ज़्यादा दिनों से ऐक्सेस नहीं किया जा सका है, तो Google पिछली बार कैश की गई मेमोरी का इस्तेमाल करता है." (after 30 days the last cached copy is used)', async () => {
    const server = await site([RULES, { status: 500 }]);
    const { robots, clock } = follower(PROFILE);
    await robots.check(server.url('/'));
    await clock.advance(DAY);
    await robots.check(server.url('/'));
    await clock.advance(30 * DAY - 1);
    expect(await robots.check(server.url('/'))).toMatchObject(page.unreachable);
    await clock.advance(1);
    expect(await robots.check(server.url('/'))).toMatchObject({ allowed: true, state: 'last-good' });
    expect(await robots.check(server.url('/private'))).toMatchObject({ allowed: false, state: 'last-good' });
  });

  it('"अगर robots.txt की पिछली कॉपी उपलब्ध नहीं है, तो Google यह मानकर चलता है कि क्रॉल करने की कोई पाबंदी नहीं है." (without a copy: no restrictions)', async () => {
    const server = await site([{ status: 500 }]);
    const { robots, clock } = follower(PROFILE);
    await robots.check(server.url('/'));
    await clock.advance(30 * DAY - 1);
    expect(await robots.check(server.url('/private'))).toMatchObject(page.unreachable);
    await clock.advance(1);
    const expired = { allowed: true, reason: 'unreachable-expired' };
    expect(await robots.check(server.url('/private'))).toMatchObject(expired);
    // Whether the site is reachable otherwise plays no part: that test came with the current edition.
    robots.report(server.url('/'), { reachable: false });
    expect(await robots.check(server.url('/private'))).toMatchObject(expired);
  });

  it('"अगर हमें यह पता चलता है कि किसी साइट को 404 स्टेटस कोड की जगह 5xx दिखाने के लिए गलत तरीके से कॉन्फ़िगर किया गया है, तो हम उस साइट की 5xx गड़बड़ी को 404 के रूप में देखते हैं." (where a site is known to say 5xx for 404, its 5xx is a 404)', async () => {
    // "We know" is the caller's to say, for one site: no body is read for what it looks like.
    const wrong = await site([{ status: 500, body: 'पेज नहीं मिला' }]);
    const other = await site([{ status: 500, body: 'पेज नहीं मिला' }]);
    const profile = { ...profiles[PROFILE], name: 'says-5xx', status: { '5xx': 'unavailable' } } as const;
    const { robots } = follower(PROFILE, { overrides: { [wrong.origin]: { profile } } });
    expect(await robots.check(wrong.url('/'))).toMatchObject(page.unavailable);
    expect(await robots.check(other.url('/'))).toMatchObject(page.unreachable);
  });
});

describe('कैश मेमोरी में रखना (caching)', () => {
  it('"ऐसी स्थितियों में इसे ज़्यादा समय के लिए रखा जा सकता है जब कैश मेमोरी में मौजूद वर्शन को रीफ़्रेश करना मुमकिन न हो." (longer where it cannot be refreshed)', async () => {
    for (const failure of [{ status: 500 }, { fault: 'hang' }] as const) {
      const server = await site([RULES, failure]);
      const { robots, clock } = follower(PROFILE, { deadlineMs: LEAST_DEADLINE_MS });
      await robots.check(server.url('/'));
      await clock.advance(DAY);
      await robots.check(server.url('/'));
      // It is kept; until the 30 days are over the section on server errors has the word.
      await clock.advance(30 * DAY);
      expect(await robots.check(server.url('/private'))).toMatchObject({
        allowed: false,
        state: 'last-good',
      });
    }
  });
});

describe('उपयोगकर्ता एजेंट के लिए प्राथमिकता का क्रम (precedence of user agents)', () => {
  it.each([
    ['googlebot-news, ग्रुप 1 को फ़ॉलो करता है', 'googlebot-news', 1],
    ['googlebot, ग्रुप 3 को फ़ॉलो करता है.', 'googlebot', 3],
    // In the current edition this row is about Storebot-Google.
    [
      'googlebot-images, ग्रुप 2 को फ़ॉलो करता है, क्योंकि googlebot-images के लिए कोई खास ग्रुप नहीं बनाया गया है.',
      'googlebot-images',
      2,
    ],
    ['इमेज क्रॉल करते समय googlebot-news, ग्रुप 1 को फ़ॉलो करता है.', 'Googlebot-News', 1],
    ['अन्य Google क्रॉलर, ग्रुप 2 को फ़ॉलो करते हैं.', 'Otherbot', 2],
    [
      'किसी मिलते-जुलते क्रॉलर के लिए कोई एंट्री होने पर, यह सिर्फ़ तब ही मान्य होगा, जब यह खास तौर पर मेल खाता हो.',
      'Googlebot-Image',
      2,
    ],
  ] as const)('"%s" (%s follows group %i)', (_, agent, group) => page.follows(agent, group));
});

describe('पाथ की वैल्यू के आधार पर यूआरएल का मिलान (matching of paths)', () => {
  it('"* किसी भी मान्य वर्ण के 0 या उससे ज़्यादा इंस्टेंस बताता है." "$ यूआरएल का आखिरी हिस्सा बताता है." (* any characters, $ the end)', () => {
    const { excluded } = reader('google', 'user-agent: *', 'disallow: /a*c', 'disallow: /d$');
    expect(excluded(['/ac', '/abc', '/ab', '/d', '/d/'])).toEqual(['/ac', '/abc', '/d']);
  });

  it.each([
    ['/', 'रूट और किसी भी निचले स्तर के यूआरएल से मेल खाता है.'],
    ['/*', '/ की तरह ही काम करता है. आखिर में लगे हुए वाइल्डकार्ड को अनदेखा कर दिया जाता है.'],
    ['/$', 'सिर्फ़ रूट से मेल खाता है.'],
    ['/fish', '/fish से शुरू होने वाले किसी भी पाथ से मेल खाता है.'],
    ['/fish*', '/fish की तरह ही काम करता है.'],
    ['/fish/', '/fish/ फ़ोल्डर में मौजूद किसी भी चीज़ से मेल खाता है.'],
    ['/*.php', '.php वाले किसी भी पाथ से मेल खाता है.'],
    ['/*.php$', '.php से खत्म होने वाले किसी भी पाथ से मेल खाता है.'],
    ['/fish*.php', 'ऐसे किसी भी पाथ से मेल खाता है जिसमें /fish और .php शामिल हों और ये इसी क्रम में शामिल हों.'],
  ])('%s: "%s"', (pattern) => page.matchesAsInTheTable(pattern));

  it('/fish/ and "/animals/fish/", which this edition lists as a match', () => {
    // The current edition lists it under "Doesn't match", as every path that does not start with the pattern; the
    // heading of this very row says "anything in the /fish/ folder". It is a slip, and nothing is made of it.
    expect(reader('google', 'user-agent: *', 'disallow: /fish/').may('/animals/fish/')).toBe(true);
  });
});

describe('नियमों के लिए प्राथमिकता का क्रम (precedence of rules)', () => {
  // "the length of the URL's path": it cannot be meant, for all rules are held against the same URL. The current
  // edition has "the length of the rule path".
  it('"क्रॉलर यूआरएल के पाथ की लंबाई के आधार पर सबसे सटीक नियम का इस्तेमाल करते हैं." (the most specific rule by length)', () => {
    expect(
      reader('google', 'user-agent: *', 'disallow: /a', 'allow: /a/b').excluded(['/a/b', '/a/c']),
    ).toEqual(['/a/c']);
  });

  it('"अलग-अलग नियम होने के मामले में, Google सबसे कम पाबंदी वाले नियम का इस्तेमाल करता है. इन नियमों में, वाइल्डकार्ड वाले नियम भी शामिल हैं." (of conflicting rules the least restrictive, wildcards included)', () => {
    expect(reader('google', 'user-agent: *', 'disallow: /a*c', 'allow: /abc').may('/abc')).toBe(true);
  });

  const reasons = [
    'क्योंकि यह ज़्यादा सटीक है.',
    'क्योंकि मिलते-जुलते नियमों के मामले में, Google सबसे कम पाबंदी वाले नियम का इस्तेमाल करता है.',
    'क्योंकि यह यूआरएल में ज़्यादा वर्णों से मेल खाता है.',
    'क्योंकि मिलते-जुलते नियमों के मामले में, Google सबसे कम पाबंदी वाले नियम का इस्तेमाल करता है.',
    'क्योंकि यह ज़्यादा सटीक है.',
    'क्योंकि allow नियम सिर्फ़ रूट यूआरएल पर लागू होता है.',
  ];
  it.each(googleSituations.map((situation, at) => ({ ...situation, reason: reasons[at] })))(
    '$target under allow: $allow, disallow: $disallow: the $applicable rule, "$reason"',
    (situation) => page.appliesTo(situation),
  );
});

/*
 * What a client cannot obey: for which crawlers the protocol is not meant, how to make a file smaller, and the
 * example of a 5xx page that looks like "not found" (the client reads no body of an error).
 */
