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

describe('Google, robots.txt फ़ाइल के निर्देशों को कैसे समझता है (how Google reads robots.txt)', () => {
  it('"साइट को क्रॉल करने से पहले Google के क्रॉलर, साइट की robots.txt फ़ाइल को डाउनलोड और पार्स करते हैं." (before crawling, the file is downloaded and parsed)', () =>
    page.isAskedFirst(PROFILE));
});

describe('robots.txt फ़ाइल क्या हाेती है (what it is)', () => {
  it('"कौनसे क्रॉलर आपकी साइट के किन हिस्सों को क्रॉल कर सकते हैं." (which crawlers may crawl which parts)', () =>
    page.disallowsToTheGroup());
});

describe('फ़ाइल की लोकेशन और वह कहां-कहां मान्य है (location and validity)', () => {
  it('"आपको robots.txt फ़ाइल को साइट की टॉप लेवल वाली डायरेक्ट्री में रखना होगा." (in the top-level directory)', () =>
    page.isAtTheTop(PROFILE));

  it('"Google Search के साथ ये प्रोटोकॉल काम करते हैं: एचटीटीपी, एचटीटीपीएस, और एफ़टीपी." (HTTP, HTTPS and FTP)', () =>
    page.supportsProtocols(PROFILE));

  it('"क्रॉलर बिना शर्तों वाले एचटीटीपी GET अनुरोध से robots.txt फ़ाइल फ़ेच करते हैं." (an unconditional GET)', () =>
    page.getsWithoutConditions(PROFILE));

  it('"एफ़टीपी प्रोटोकॉल पर, क्रॉलर पहचान ज़ाहिर किए बिना लॉग इन करके आम तौर पर इस्तेमाल होने वाले RETR (RETRIEVE) कमांड का इस्तेमाल करते हैं." (on FTP, RETR with an anonymous login)', () =>
    page.retrievesOverFtp(PROFILE));

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
  it('"कार्रवाई सफल होने का सिग्नल देने वाला एचटीटीपी स्टेटस कोड, Google के क्रॉलर को, सर्वर से उपलब्ध कराई गई robots.txt फ़ाइल को प्रोसेस करने का सिग्नल देता है." (2xx: the file is processed)', () =>
    page.processesSuccess(PROFILE));

  it('"कम से कम पांच बार रीडायरेक्ट होकर आगे बढ़ने का तरीका अपनाता है. इसके बाद, वह रुकता है और इसे robots.txt फ़ाइल के लिए 404 मानकर इसका इस्तेमाल करता है." (five redirects, then a 404)', () =>
    page.followsFiveRedirects(PROFILE));

  it('"यह तरीका, रीडायरेक्ट चेन के किसी ऐसे यूआरएल पर भी लागू होता है जिसे क्रॉल करने की अनुमति न हो." (also for disallowed URLs in the chain)', () =>
    page.stopsAtDisallowedHops(PROFILE));

  it('"Google, robots.txt फ़ाइलों में लॉजिकल रीडायरेक्ट के मुताबिक काम नहीं करता (फ़्रेम, JavaScript या मेटा रीफ़्रेश-टाइप रीडायरेक्ट)." (no logical redirects)', () =>
    page.ignoresLogicalRedirects(PROFILE));

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

  it('"Google, robots.txt फ़ाइल को क्रॉल करने की कोशिश तब तक करता रहता है, जब तक उसे बिना किसी सर्वर की गड़बड़ी वाला एचटीटीपी स्टेटस कोड नहीं मिल जाता." (it keeps trying until there is no server error)', () =>
    page.keepsTrying(PROFILE));

  it('"503 (service unavailable) गड़बड़ी की वजह से कई बार कोशिश करनी पड़ती है." (503 is tried again often)', () =>
    page.keepsTrying(PROFILE));

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

  it('"अगर डीएनएस या नेटवर्क से जुड़ी समस्याओं की वजह से robots.txt फ़ाइल फ़ेच नहीं हो पाती है, तो इसे सर्वर की गड़बड़ी माना जाता है." (DNS and network trouble is a server error)', () =>
    page.countsNetworkTroubleAsServerError(PROFILE));
});

describe('कैश मेमोरी में रखना (caching)', () => {
  it('"Google आम तौर पर robots.txt फ़ाइल के कॉन्टेंट को 24 घंटों तक कैश मेमोरी में रखता है." (24 hours)', () =>
    page.cachesForADay(PROFILE));

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

  it('"कैश मेमोरी में रखे गए रिस्पॉन्स को कई क्रॉलर शेयर कर सकते हैं." (shared by several crawlers)', () =>
    page.sharesAmongCrawlers(PROFILE));

  it('"मैक्स-एज कैश कंट्रोल वाले एचटीटीपी हेडर के आधार पर Google, कॉन्टेंट के कैश में बने रहने का समय घटा या बढ़ा सकता है." (max-age may shorten or lengthen it)', () =>
    page.heedsMaxAge(PROFILE));
});

describe('फ़ाइल फ़ॉर्मैट (file format)', () => {
  it('"robots.txt फ़ाइल, UTF-8 एन्कोडिंग वाली सादी टेक्स्ट फ़ाइल होनी चाहिए और इसकी हर लाइन CR, CR/LF या LF से अलग की गई होनी चाहिए." (UTF-8; CR, CR/LF or LF)', () =>
    page.readsLineEnds());

  it('"Google, robots.txt फ़ाइलों में अमान्य लाइनों को अनदेखा करता है और सिर्फ़ मान्य लाइनें इस्तेमाल करता है." (invalid lines are ignored; the BOM; HTML)', () =>
    page.usesOnlyValidLines());

  it('"अगर robots.txt फ़ाइल की कैरेक्टर एन्कोडिंग UTF-8 नहीं है, तो Google उन वर्णों को अनदेखा कर सकता है जो UTF-8 रेंज का हिस्सा नहीं हैं." (characters that are not UTF-8 may be ignored)', () =>
    page.passesOverOtherEncodings());

  // "कॉन्टेंट के लिए तय साइज़ से बड़ी फ़ाइल को अनदेखा किया जाता है" can be read as "a file larger than the size is
  // ignored"; the current edition says that the content after the size is, and so it is read here: a file that was
  // ignored as a whole would open the site.
  it('"Google ने robots.txt फ़ाइल की सीमा 500 किबीबाइट (केआईबी) तय की है." (a limit of 500 KiB)', () =>
    page.readsHalfAMebibyte(PROFILE));
});

describe('सिंटैक्स (syntax)', () => {
  it('"मान्य robots.txt फ़ाइल की लाइनों में, एक फ़ील्ड, एक कोलन, और एक वैल्यू होती है. खाली जगहें ज़रूरी नहीं हैं." (field, colon, value; spaces are optional; comments)', () =>
    page.readsFieldsAndComments());

  it('"Google पर ये फ़ील्ड काम करते हैं" (user-agent, allow, disallow, sitemap)', () => page.readsTheFourFields());

  it('"डिफ़ॉल्ट रूप से, तय किए गए क्रॉलर के लिए क्रॉल करने पर कोई प्रतिबंध नहीं है." (no restrictions by default)', () =>
    page.restrictsNothingByDefault());

  it('"क्रॉलर, बिना [path] वाले डायरेक्टिव को अनदेखा करते हैं." (directives without a path are ignored)', () =>
    page.ignoresRulesWithoutPath());

  it('"रूट तय करने के लिए पाथ की वैल्यू / से शुरू होनी चाहिए और यह वैल्यू केस-सेंसिटिव होती है." (paths start with / and are case-sensitive)', () =>
    page.readsPathsFromTheRoot());

  it('"user-agent लाइन की वैल्यू केस-इनसेंसिटिव होती है." (user-agent is case-insensitive)', () =>
    page.comparesAgentsInAnyCase());

  it('"disallow डायरेक्टिव उन पाथ के बारे में बताता है जिन्हें क्रॉलर को ऐक्सेस नहीं करना चाहिए." (disallow: paths not to be accessed)', () =>
    page.disallowsToTheGroup());

  // It says "paths without a directive are ignored", the wrong way round; the same section has it right above.
  it('"क्रॉलर, बिना डायरेक्टिव वाले पाथ को अनदेखा कर देते हैं." (a directive without a path is ignored)', () =>
    page.ignoresRulesWithoutPath());

  it('"disallow डायरेक्टिव की वैल्यू केस-सेंसिटिव होती है." (disallow is case-sensitive)', () =>
    page.comparesDisallowInCase());

  it('"allow डायरेक्टिव ऐसे पाथ के बारे में बताता है जिन्हें तय क्रॉलर ऐक्सेस कर सकते हैं. जब कोई पाथ न बताया गया हो, तो डायरेक्टिव को अनदेखा कर दिया जाता है." (allow: paths that may be accessed; ignored without one)', () => {
    page.allowsToTheGroup();
    page.ignoresRulesWithoutPath();
  });

  it('"allow डायरेक्टिव की वैल्यू केस-सेंसिटिव होती है." (allow is case-sensitive)', () => page.comparesAllowInCase());

  it('"sitemap फ़ील्ड की वैल्यू केस-सेंसिटिव होती है." "एक से ज़्यादा sitemap फ़ील्ड तय किए जा सकते हैं. साइटमैप फ़ील्ड, किसी खास उपयोगकर्ता एजेंट से नहीं जुड़ा होता है." (sitemap: case-sensitive, several, of any host, tied to no agent)', () =>
    page.reportsSitemaps());

  it('"हालांकि, अगर इसे क्रॉल करने पर रोक लगी है, तो वे इसे क्रॉल नहीं कर पाएंगे." (where a sitemap is disallowed it cannot be crawled)', () =>
    page.decidesAboutSitemapsToo(PROFILE));
});

describe('लाइनों और नियमों के ग्रुप बनाना (grouping)', () => {
  it('"आप हर क्रॉलर के लिए user-agent लाइनें दोहराकर, एक से ज़्यादा उपयोगकर्ता एजेंट पर लागू होने वाले नियमों को एक ही ग्रुप में रख सकते हैं." "इस उदाहरण में नियमों के चार अलग-अलग ग्रुप दिए गए हैं" (user-agent lines are repeated; four groups)', () =>
    page.groupsByUserAgentLines());
});

describe('उपयोगकर्ता एजेंट के लिए प्राथमिकता का क्रम (precedence of user agents)', () => {
  it('"हर क्रॉलर के लिए सिर्फ़ एक ग्रुप मान्य होता है." "robots.txt फ़ाइल में, ग्रुप किस क्रम में शामिल किए गए हैं, इसका क्रॉलिंग पर कोई असर नहीं पड़ता है." (one group for each; their order does not matter)', () => {
    page.follows('googlebot-news', 1);
    page.follows('googlebot', 3);
  });

  it('"मेल न खाने वाले हर टेक्स्ट को भी अनदेखा कर दिया जाता है. जैसे कि googlebot/1.2 और googlebot*, दोनों googlebot की तरह ही काम करते हैं." (non-matching text is ignored)', () =>
    page.ignoresWhatFollowsTheName());

  it('"उपयोगकर्ता एजेंट के खास ग्रुप और ग्लोबल ग्रुप (*) के नियमों को मिलाया नहीं जाता है." (groups of one agent are combined, never with *)', () =>
    page.mergesGroupsOfOneAgent());

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

  it('"Google के क्रॉलर उन सभी ग्रुप को अंदरूनी तौर पर मर्ज कर देते हैं." (groups are merged)', () =>
    page.mergesGroupsOfOneAgent());

  it('"allow, disallow, और user-agent के अलावा, दूसरे नियमों को robots.txt पार्सर अनदेखा कर देता है." (other lines are ignored)', () =>
    page.ignoresOtherLinesInGroups());
});

describe('पाथ की वैल्यू के आधार पर यूआरएल का मिलान (matching of paths)', () => {
  it('"इसके लिए, नियम की तुलना यूआरएल के उस पाथ कॉम्पोनेंट से की जाती है जिसे क्रॉलर फ़ेच करने की कोशिश कर रहा हो." (the rule is compared to the path of the URL)', () =>
    page.comparesWithThePath());

  it('"गैर 7-बिट ASCII वर्णों को UTF-8 वर्णों के रूप में शामिल किया जा सकता है." (non-ASCII as UTF-8 or escaped)', () =>
    page.readsOtherCharactersEitherWay());

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
