import { expect } from 'vitest';
import { targetOf } from '../../src/index.ts';
import {
  allowed,
  DISALLOW_ALL,
  readAs,
  requestsFileFor,
  requestsOnlyRobotsTxt,
  requestsRobotsFirst,
  robotFor,
  testSentences,
  visitAs,
  web,
} from './specification.ts';

/**
 * robotstxt.org, "What is The Robots Exclusion Protocol?", the guide to the convention of 1994. The profile
 * `robotstxt-1994` stands for it; what the guide leaves open (statuses, time) that profile takes from the draft of
 * 1996.
 */
const PROFILE = 'robotstxt-1994';
const read = readAs.bind(undefined, PROFILE);

testSentences({
  'In nutshell': {
    '"a robot wants to visits a Website URL, say Before it does so, it firsts checks for, and finds"': () =>
      requestsRobotsFirst(PROFILE),
    '"The “User-agent: *” means this section applies to all robots."': () =>
      read(DISALLOW_ALL, '-/a', 'Google: -/a', 'x: -/a', '*: -/a'),
    '"The “Disallow: /” tells the robot that it should not visit any pages on the site."': () =>
      read(DISALLOW_ALL, '-/ -/index.html -/a/b/c?d=e -/~joe/'),
  },
  'Where to put it': {
    '"it strips the path component from the URL (everything from the first single slash), and puts “/robots.txt” in its place."':
      async () => {
        const { options, asked } = web({});
        const { robots } = robotFor(PROFILE, options);
        await robots.check('http://www.example.com/a/b?c=/d//e');
        await robots.check('http://www.example.com:8080');
        expect(asked).toEqual([
          'http://www.example.com/robots.txt',
          'http://www.example.com:8080/robots.txt',
        ]);
      },
    '"it will remove the “/shop/index.html”, and replace it with “/robots.txt”"': async () => {
      const url = 'http://www.example.com/shop/index.html';
      expect(targetOf(url)).toBe('/shop/index.html');
      await requestsFileFor(PROFILE, [url, 'http://www.example.com/robots.txt']);
      const { options } = web({ 'http://www.example.com/robots.txt': 'User-agent: *\nDisallow: /shop' });
      expect(await robotFor(PROFILE, options).robots.canFetch(url)).toBe(false);
    },
    '"Remember to use all lower case for the filename: “robots.txt”, not “Robots.TXT."': () =>
      requestsOnlyRobotsTxt(PROFILE, '/Robots.TXT', '/ROBOTS.TXT'),
  },
  'What to put in it': {
    '"is a text file, with one or more records."': () =>
      read(
        'User-agent: ExampleBot\nDisallow: /a\n\nUser-agent: OtherBot\nDisallow: /b',
        '-/a +/b',
        'OtherBot: +/a -/b',
      ),
    '"In this example, three directories are excluded."': () =>
      read(
        'User-agent: *\nDisallow: /cgi-bin/\nDisallow: /tmp/\nDisallow: /~joe/',
        '-/cgi-bin/ -/cgi-bin/a -/tmp/x/y -/~joe/ -/~joe/index.html +/ +/tmp +/cgi-bin +/~jim/ +/a/tmp/',
      ),
    // It is one prefix, with a space in it.
    '"you need a separate “Disallow” line for every URL prefix you want to exclude — you cannot say “Disallow: /cgi-bin/ /tmp/” on a single line."':
      () => read('User-agent: *\nDisallow: /cgi-bin/ /tmp/', '+/cgi-bin/a +/tmp/a -/cgi-bin/%20/tmp/a'),
    // RFC 9309 and Google read on: a group goes on over blank lines.
    '"you may not have blank lines in a record, as they are used to delimit multiple records."': () => {
      read('User-agent: *\nDisallow: /a\n\nDisallow: /b', '-/a +/b');
      readAs('rfc9309', 'User-agent: *\nDisallow: /a\n\nDisallow: /b', '-/a -/b');
    },
    '"globing and regular expression are not supported in either the User-agent or Disallow lines."': () => {
      read(
        'User-agent: *\nDisallow: /a.c\nDisallow: /[b]\nDisallow: /d$',
        '+/abc -/a.c +/b -/[b] +/d -/d$ -/d$e',
      );
      read('User-agent: Ex.*Bot\nDisallow: /', '+/');
    },
    '"The ‘*’ in the User-agent field is a special value meaning “any robot”."': () =>
      read('User-agent: GoodBot\nDisallow:\n\nUser-agent: *\nDisallow: /', 'AnyBot: -/', 'GoodBot: +/'),
    // A star is a star.
    '"you cannot have lines like “User-agent: *bot*”, “Disallow: /tmp/*” or “Disallow: *.gif”."': () => {
      read('User-agent: *bot*\nDisallow: /', '+/');
      read('User-agent: *\nDisallow: /tmp/*\nDisallow: *.gif', '+/tmp/ +/tmp/a -/tmp/* +/a.gif +/*.gif');
    },
    '"Everything not explicitly disallowed is considered fair game to retrieve."': () => {
      read('User-agent: *\nDisallow: /a', '+/b@no-rule +/');
      read('User-agent: OtherBot\nDisallow: /', '+/a');
    },
  },
  Examples: {
    '"To exclude all robots from the entire server"': () =>
      read('User-agent: *\nDisallow: /', '-/ -/tmp/', 'Google: -/a'),
    // As printed, where the page has lost the empty Disallow line, and as it was meant.
    '"To allow all robots complete access"': () => {
      read('User-agent: *', '+/ +/tmp/', 'Google: +/a');
      read('User-agent: *\nDisallow:', '+/ +/tmp/', 'Google: +/a');
    },
    '"(Or just create an empty “/robots.txt” file, or don’t use one at all)"': async () => {
      for (const response of ['', { status: 404 }]) {
        const { server, robots } = await visitAs(PROFILE, [response], ['/', allowed]);
        expect(await robots.canFetch(server.url('/tmp/a'), 'Google')).toBe(true);
        expect(server.robotsCount).toBe(1);
      }
    },
    '"To exclude all robots from part of the server"': () =>
      read(
        'User-agent: *\nDisallow: /cgi-bin/\nDisallow: /tmp/\nDisallow: /junk/',
        '+/ -/cgi-bin/a -/tmp/b -/junk/c +/junk.html',
      ),
    '"To exclude a single robot"': () =>
      read('User-agent: BadBot\nDisallow: /', 'BadBot: -/', 'badbot/1.0: -/', 'GoodBot: +/'),
    // As printed the example has lost "Disallow:" and the blank line, and says the contrary of its heading: two names,
    // one record. "User-agent: Google / User-agent: * / Disallow: /" cannot be read as it was meant.
    '"To allow a single robot"': () => {
      read('User-agent: Google\nDisallow:\n\nUser-agent: *\nDisallow: /', 'Google: +/', '-/');
      read('User-agent: Google\nUser-agent: *\nDisallow: /', 'Google: -/', '-/');
    },
    // The draft of 1996 and all later documents have one.
    '"This is currently a bit awkward, as there is no “Allow” field."': () =>
      read('User-agent: *\nAllow: /~joe/index.html\nDisallow: /~joe/', '-/~joe/index.html -/~joe/'),
    '"The easy way is to put all files to be disallowed into a separate directory, say “stuff”"': () =>
      read('User-agent: *\nDisallow: /~joe/stuff/', '+/~joe/index.html -/~joe/stuff/a.html'),
    '"Alternatively you can explicitly disallow all disallowed pages"': () =>
      read(
        'User-agent: *\nDisallow: /~joe/junk.html\nDisallow: /~joe/foo.html\nDisallow: /~joe/bar.html',
        '-/~joe/junk.html -/~joe/foo.html -/~joe/bar.html +/~joe/index.html',
      ),
  },
});

/*
 * What a client cannot obey: "Robots can ignore your /robots.txt" and "The /robots.txt file is a publicly available
 * file" warn site owners; "The details" tells the history; where the file lies on the server's disk is its owner's
 * affair.
 */
