import { describe, it } from 'vitest';
import * as page from './google-page.ts';

/**
 * What both editions of Google's page say, each in its own sentence: the current one, for which the profile `google`
 * stands, and an older one in Hindi, for which `google-legacy` does, with its sense in English. What only one of them
 * says, or what they say differently, is in `google.test.ts` and `google-hindi.test.ts`.
 */
type Sentence = readonly [
  current: string | undefined,
  older: string,
  holds: (profile: page.GoogleProfile) => void | Promise<void>,
];

const SECTIONS: Readonly<Record<string, readonly Sentence[]>> = {
  'How Google interprets the robots.txt specification': [
    [
      '"before crawling a site, Google\'s crawlers download and parse the site\'s robots.txt file to extract information about which parts of the site may be crawled."',
      '"साइट को क्रॉल करने से पहले Google के क्रॉलर, साइट की robots.txt फ़ाइल को डाउनलोड और पार्स करते हैं." (before crawling, the file is downloaded and parsed)',
      (profile) => page.isAskedFirst(profile),
    ],
  ],
  'What is a robots.txt file': [
    [
      undefined,
      '"कौनसे क्रॉलर आपकी साइट के किन हिस्सों को क्रॉल कर सकते हैं." (which crawlers may crawl which parts)',
      () => page.disallowsToTheGroup(),
    ],
  ],
  'File location and range of validity': [
    [
      '"You must place the robots.txt file in the top-level directory of a site, on a supported protocol. The URL for the robots.txt file is (like other URLs) case-sensitive."',
      '"आपको robots.txt फ़ाइल को साइट की टॉप लेवल वाली डायरेक्ट्री में रखना होगा." (in the top-level directory)',
      (profile) => page.isAtTheTop(profile),
    ],
    [
      '"the supported protocols are HTTP, HTTPS, and FTP."',
      '"Google Search के साथ ये प्रोटोकॉल काम करते हैं: एचटीटीपी, एचटीटीपीएस, और एफ़टीपी." (HTTP, HTTPS and FTP)',
      (profile) => page.supportsProtocols(profile),
    ],
    [
      '"On HTTP and HTTPS, crawlers fetch the robots.txt file with an HTTP non-conditional `GET` request"',
      '"क्रॉलर बिना शर्तों वाले एचटीटीपी GET अनुरोध से robots.txt फ़ाइल फ़ेच करते हैं." (an unconditional GET)',
      (profile) => page.getsWithoutConditions(profile),
    ],
    [
      '"on FTP, crawlers use a standard `RETR (RETRIEVE)` command, using anonymous login."',
      '"एफ़टीपी प्रोटोकॉल पर, क्रॉलर पहचान ज़ाहिर किए बिना लॉग इन करके आम तौर पर इस्तेमाल होने वाले RETR (RETRIEVE) कमांड का इस्तेमाल करते हैं." (on FTP, RETR with an anonymous login)',
      (profile) => page.retrievesOverFtp(profile),
    ],
  ],
  'Handling of errors and HTTP status codes': [
    [
      '"HTTP status codes that signal success prompt Google\'s crawlers to process the robots.txt file as provided by the server."',
      '"कार्रवाई सफल होने का सिग्नल देने वाला एचटीटीपी स्टेटस कोड, Google के क्रॉलर को, सर्वर से उपलब्ध कराई गई robots.txt फ़ाइल को प्रोसेस करने का सिग्नल देता है." (2xx: the file is processed)',
      (profile) => page.processesSuccess(profile),
    ],
    [
      '"Google follows at least five redirect hops […] and then stops and treats it as a `404` for the robots.txt file."',
      '"कम से कम पांच बार रीडायरेक्ट होकर आगे बढ़ने का तरीका अपनाता है. इसके बाद, वह रुकता है और इसे robots.txt फ़ाइल के लिए 404 मानकर इसका इस्तेमाल करता है." (five redirects, then a 404)',
      (profile) => page.followsFiveRedirects(profile),
    ],
    [
      '"This also applies to any disallowed URLs in the redirect chain, since the crawler couldn\'t fetch rules due to the redirects."',
      '"यह तरीका, रीडायरेक्ट चेन के किसी ऐसे यूआरएल पर भी लागू होता है जिसे क्रॉल करने की अनुमति न हो." (also for disallowed URLs in the chain)',
      (profile) => page.stopsAtDisallowedHops(profile),
    ],
    [
      '"Google doesn\'t follow logical redirects in robots.txt files (frames, JavaScript, or meta refresh-type redirects)."',
      '"Google, robots.txt फ़ाइलों में लॉजिकल रीडायरेक्ट के मुताबिक काम नहीं करता (फ़्रेम, JavaScript या मेटा रीफ़्रेश-टाइप रीडायरेक्ट)." (no logical redirects)',
      (profile) => page.ignoresLogicalRedirects(profile),
    ],
    [
      undefined,
      '"Google, robots.txt फ़ाइल को क्रॉल करने की कोशिश तब तक करता रहता है, जब तक उसे बिना किसी सर्वर की गड़बड़ी वाला एचटीटीपी स्टेटस कोड नहीं मिल जाता." (it keeps trying until there is no server error)',
      (profile) => page.keepsTrying(profile),
    ],
    [
      '"A `503 (service unavailable)` error results in fairly frequent retrying."',
      '"503 (service unavailable) गड़बड़ी की वजह से कई बार कोशिश करनी पड़ती है." (503 is tried again often)',
      (profile) => page.keepsTrying(profile),
    ],
    [
      '"A robots.txt file which cannot be fetched due to DNS or networking issues, such as timeouts, invalid responses, reset or interrupted connections, and HTTP chunking errors, is treated as a server error."',
      '"अगर डीएनएस या नेटवर्क से जुड़ी समस्याओं की वजह से robots.txt फ़ाइल फ़ेच नहीं हो पाती है, तो इसे सर्वर की गड़बड़ी माना जाता है." (DNS and network trouble is a server error)',
      (profile) => page.countsNetworkTroubleAsServerError(profile),
    ],
  ],
  Caching: [
    [
      '"Google generally caches the contents of robots.txt file for up to 24 hours"',
      '"Google आम तौर पर robots.txt फ़ाइल के कॉन्टेंट को 24 घंटों तक कैश मेमोरी में रखता है." (24 hours)',
      (profile) => page.cachesForADay(profile),
    ],
    [
      '"The cached response may be shared by different crawlers."',
      '"कैश मेमोरी में रखे गए रिस्पॉन्स को कई क्रॉलर शेयर कर सकते हैं." (shared by several crawlers)',
      (profile) => page.sharesAmongCrawlers(profile),
    ],
    [
      '"Google may increase or decrease the cache lifetime based on max-age Cache-Control HTTP headers."',
      '"मैक्स-एज कैश कंट्रोल वाले एचटीटीपी हेडर के आधार पर Google, कॉन्टेंट के कैश में बने रहने का समय घटा या बढ़ा सकता है." (max-age may shorten or lengthen it)',
      (profile) => page.heedsMaxAge(profile),
    ],
  ],
  'File format': [
    [
      '"The robots.txt file must be a UTF-8 encoded plain text file and the lines must be separated by `CR`, `CR/LF`, or `LF`."',
      '"robots.txt फ़ाइल, UTF-8 एन्कोडिंग वाली सादी टेक्स्ट फ़ाइल होनी चाहिए और इसकी हर लाइन CR, CR/LF या LF से अलग की गई होनी चाहिए." (UTF-8; CR, CR/LF or LF)',
      () => page.readsLineEnds(),
    ],
    [
      '"Google ignores invalid lines in robots.txt files, including the Unicode Byte Order Mark (BOM) at the beginning of the robots.txt file, and use only valid lines. For example, if the content downloaded is HTML instead of robots.txt rules, Google will try to parse the content and extract rules, and ignore everything else."',
      '"Google, robots.txt फ़ाइलों में अमान्य लाइनों को अनदेखा करता है और सिर्फ़ मान्य लाइनें इस्तेमाल करता है." (invalid lines are ignored; the BOM; HTML)',
      () => page.usesOnlyValidLines(),
    ],
    [
      '"if the character encoding of the robots.txt file isn\'t UTF-8, Google may ignore characters that are not part of the UTF-8 range, potentially rendering robots.txt rules invalid."',
      '"अगर robots.txt फ़ाइल की कैरेक्टर एन्कोडिंग UTF-8 नहीं है, तो Google उन वर्णों को अनदेखा कर सकता है जो UTF-8 रेंज का हिस्सा नहीं हैं." (characters that are not UTF-8 may be ignored)',
      () => page.passesOverOtherEncodings(),
    ],
    // "कॉन्टेंट के लिए तय साइज़ से बड़ी फ़ाइल को अनदेखा किया जाता है" can be read as "a file larger than the size is
    // ignored"; the current edition says that the content after the size is, and so it is read here: a file that was
    // ignored as a whole would open the site.
    [
      '"Google enforces a robots.txt file size limit of 500 kibibytes (KiB). Content which is after the maximum file size is ignored."',
      '"Google ने robots.txt फ़ाइल की सीमा 500 किबीबाइट (केआईबी) तय की है." (a limit of 500 KiB)',
      (profile) => page.readsHalfAMebibyte(profile),
    ],
  ],
  Syntax: [
    [
      '"Valid robots.txt lines consists of a field, a colon, and a value. Spaces are optional […]. Space at the beginning and at the end of the line is ignored. […] everything after the `#` character will be ignored."',
      '"मान्य robots.txt फ़ाइल की लाइनों में, एक फ़ील्ड, एक कोलन, और एक वैल्यू होती है. खाली जगहें ज़रूरी नहीं हैं." (field, colon, value; spaces are optional; comments)',
      () => page.readsFieldsAndComments(),
    ],
    [
      '"Google supports the following fields": user-agent, allow, disallow, sitemap',
      '"Google पर ये फ़ील्ड काम करते हैं" (user-agent, allow, disallow, sitemap)',
      () => page.readsTheFourFields(),
    ],
    [
      '"These rules are always specified in the form of `rule: [path]` where `[path]` is optional. […] Crawlers ignore rules without a `[path]`."',
      '"क्रॉलर, बिना [path] वाले डायरेक्टिव को अनदेखा करते हैं." (directives without a path are ignored)',
      () => page.ignoresRulesWithoutPath(),
    ],
    [
      '"By default, there are no restrictions for crawling for the designated crawlers."',
      '"डिफ़ॉल्ट रूप से, तय किए गए क्रॉलर के लिए क्रॉल करने पर कोई प्रतिबंध नहीं है." (no restrictions by default)',
      () => page.restrictsNothingByDefault(),
    ],
    [
      '"The `[path]` value, if specified, is relative to the root of the website […]. The path value must start with `/` to designate the root and the value is case-sensitive."',
      '"रूट तय करने के लिए पाथ की वैल्यू / से शुरू होनी चाहिए और यह वैल्यू केस-सेंसिटिव होती है." (paths start with / and are case-sensitive)',
      () => page.readsPathsFromTheRoot(),
    ],
    [
      '"The value of the `user-agent` line is case-insensitive."',
      '"user-agent लाइन की वैल्यू केस-इनसेंसिटिव होती है." (user-agent is case-insensitive)',
      () => page.comparesAgentsInAnyCase(),
    ],
    [
      '"The `disallow` rule specifies paths that must not be accessed by the crawlers identified by the `user-agent` line the `disallow` rule is grouped with."',
      '"disallow डायरेक्टिव उन पाथ के बारे में बताता है जिन्हें क्रॉलर को ऐक्सेस नहीं करना चाहिए." (disallow: paths not to be accessed)',
      () => page.disallowsToTheGroup(),
    ],
    // It says "paths without a directive are ignored", the wrong way round; the same section has it right above.
    [
      '"Crawlers ignore the rule without a path."',
      '"क्रॉलर, बिना डायरेक्टिव वाले पाथ को अनदेखा कर देते हैं." (a directive without a path is ignored)',
      () => page.ignoresRulesWithoutPath(),
    ],
    [
      '"The value of the `disallow` rule is case-sensitive."',
      '"disallow डायरेक्टिव की वैल्यू केस-सेंसिटिव होती है." (disallow is case-sensitive)',
      () => page.comparesDisallowInCase(),
    ],
    [
      '"The `allow` rule specifies paths that may be accessed by the designated crawlers. When no path is specified, the rule is ignored."',
      '"allow डायरेक्टिव ऐसे पाथ के बारे में बताता है जिन्हें तय क्रॉलर ऐक्सेस कर सकते हैं. जब कोई पाथ न बताया गया हो, तो डायरेक्टिव को अनदेखा कर दिया जाता है." (allow: paths that may be accessed; ignored without one)',
      () => {
        page.allowsToTheGroup();
        page.ignoresRulesWithoutPath();
      },
    ],
    [
      '"The value of the `allow` rule is case-sensitive."',
      '"allow डायरेक्टिव की वैल्यू केस-सेंसिटिव होती है." (allow is case-sensitive)',
      () => page.comparesAllowInCase(),
    ],
    [
      '"The value of the `sitemap` field is case-sensitive." "doesn\'t have to be URL-encoded. The URL doesn\'t have to be on the same host as the robots.txt file. You can specify multiple `sitemap` fields. The sitemap field isn\'t tied to any specific user agent"',
      '"sitemap फ़ील्ड की वैल्यू केस-सेंसिटिव होती है." "एक से ज़्यादा sitemap फ़ील्ड तय किए जा सकते हैं. साइटमैप फ़ील्ड, किसी खास उपयोगकर्ता एजेंट से नहीं जुड़ा होता है." (sitemap: case-sensitive, several, of any host, tied to no agent)',
      () => page.reportsSitemaps(),
    ],
    [
      '"may be followed by all crawlers, provided it isn\'t disallowed for crawling."',
      '"हालांकि, अगर इसे क्रॉल करने पर रोक लगी है, तो वे इसे क्रॉल नहीं कर पाएंगे." (where a sitemap is disallowed it cannot be crawled)',
      (profile) => page.decidesAboutSitemapsToo(profile),
    ],
  ],
  'Grouping of lines and rules': [
    [
      '"You can group together rules that apply to multiple user agents by repeating `user-agent` lines for each crawler." "In this example there are four distinct rule groups"',
      '"आप हर क्रॉलर के लिए user-agent लाइनें दोहराकर, एक से ज़्यादा उपयोगकर्ता एजेंट पर लागू होने वाले नियमों को एक ही ग्रुप में रख सकते हैं." "इस उदाहरण में नियमों के चार अलग-अलग ग्रुप दिए गए हैं" (user-agent lines are repeated; four groups)',
      () => page.groupsByUserAgentLines(),
    ],
  ],
  'Order of precedence for user agents': [
    [
      '"Google\'s crawlers determine the correct group of rules by finding in the robots.txt file the group with the most specific user agent that matches the crawler\'s user agent. Other groups are ignored." "The order of the groups within the robots.txt file is irrelevant."',
      '"हर क्रॉलर के लिए सिर्फ़ एक ग्रुप मान्य होता है." "robots.txt फ़ाइल में, ग्रुप किस क्रम में शामिल किए गए हैं, इसका क्रॉलिंग पर कोई असर नहीं पड़ता है." (one group for each; their order does not matter)',
      () => {
        page.follows('googlebot-news', 1);
        page.follows('googlebot', 3);
      },
    ],
    [
      '"All non-matching text is ignored (for example, both `googlebot/1.2` and `googlebot*` are equivalent to `googlebot`)."',
      '"मेल न खाने वाले हर टेक्स्ट को भी अनदेखा कर दिया जाता है. जैसे कि googlebot/1.2 और googlebot*, दोनों googlebot की तरह ही काम करते हैं." (non-matching text is ignored)',
      () => page.ignoresWhatFollowsTheName(),
    ],
    [
      '"all the rules from the groups applicable to the specific user agent are combined internally into a single group. User agent specific groups and global groups (`*`) are not combined."',
      '"उपयोगकर्ता एजेंट के खास ग्रुप और ग्लोबल ग्रुप (*) के नियमों को मिलाया नहीं जाता है." (groups of one agent are combined, never with *)',
      () => page.mergesGroupsOfOneAgent(),
    ],
    [
      '"If there are multiple groups in a robots.txt file that are relevant to a specific user agent, Google\'s crawlers internally merge the groups."',
      '"Google के क्रॉलर उन सभी ग्रुप को अंदरूनी तौर पर मर्ज कर देते हैं." (groups are merged)',
      () => page.mergesGroupsOfOneAgent(),
    ],
    [
      '"Rules other than `allow`, `disallow`, and `user-agent` are ignored by the robots.txt parser. […] thus both `user-agent` `a` and `b` are affected by the `disallow: /` rule"',
      '"allow, disallow, और user-agent के अलावा, दूसरे नियमों को robots.txt पार्सर अनदेखा कर देता है." (other lines are ignored)',
      () => page.ignoresOtherLinesInGroups(),
    ],
  ],
  'URL matching based on path values': [
    [
      '"This works by comparing the rule to the path component of the URL that the crawler is trying to fetch."',
      '"इसके लिए, नियम की तुलना यूआरएल के उस पाथ कॉम्पोनेंट से की जाती है जिसे क्रॉलर फ़ेच करने की कोशिश कर रहा हो." (the rule is compared to the path of the URL)',
      () => page.comparesWithThePath(),
    ],
    [
      '"Non-7-bit ASCII characters in a path may be included as UTF-8 characters or as percent-escaped UTF-8 encoded characters"',
      '"गैर 7-बिट ASCII वर्णों को UTF-8 वर्णों के रूप में शामिल किया जा सकता है." (non-ASCII as UTF-8 or escaped)',
      () => page.readsOtherCharactersEitherWay(),
    ],
  ],
};

describe.each(Object.entries(SECTIONS))('%s', (_, sentences) => {
  for (const [current, older, holds] of sentences) {
    if (current !== undefined) it(current, () => holds('google'));
    it(older, () => holds('google-legacy'));
  }
});
