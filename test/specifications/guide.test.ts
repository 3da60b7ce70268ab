import { describe, expect, it } from 'vitest';
import { guardFetch, targetOf } from '../../src/index.ts';
import { follower, reader, site, web } from './follower.ts';

/**
 * robotstxt.org, "What is The Robots Exclusion Protocol?", the guide to the convention of 1994. The profile
 * `robotstxt-1994` stands for it; what the guide leaves open (statuses, time) that profile takes from the draft of
 * 1996.
 */
const PROFILE = 'robotstxt-1994';
const MAIN = 'User-agent: *\nDisallow: /';

describe('In nutshell', () => {
  it('"a robot wants to visits a Website URL, say Before it does so, it firsts checks for, and finds"', async () => {
    const server = await site(['User-agent: *\nDisallow: /closed']);
    const { robots } = follower(PROFILE);
    const fetchPolitely = guardFetch(fetch, robots);
    await fetchPolitely(server.url('/welcome.html'));
    await expect(fetchPolitely(server.url('/closed'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    expect(server.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/welcome.html']);
  });

  it('"The “User-agent: *” means this section applies to all robots."', () => {
    const { may } = reader(PROFILE, MAIN);
    expect(['ExampleBot', 'Google', 'x', '*'].map((agent) => may('/a', agent))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('"The “Disallow: /” tells the robot that it should not visit any pages on the site."', () => {
    const pages = ['/', '/index.html', '/a/b/c?d=e', '/~joe/'];
    expect(reader(PROFILE, MAIN).excluded(pages)).toEqual(pages);
  });
});

describe('Where to put it', () => {
  it('"it strips the path component from the URL (everything from the first single slash), and puts “/robots.txt” in its place."', async () => {
    const { options, asked } = web({});
    const { robots } = follower(PROFILE, options);
    await robots.check('http://www.example.com/a/b?c=/d//e');
    await robots.check('http://www.example.com:8080');
    expect(asked).toEqual(['http://www.example.com/robots.txt', 'http://www.example.com:8080/robots.txt']);
  });

  it('"it will remove the “/shop/index.html”, and replace it with “/robots.txt”"', async () => {
    const url = 'http://www.example.com/shop/index.html';
    const { options, asked } = web({ 'http://www.example.com/robots.txt': 'User-agent: *\nDisallow: /shop' });
    const { robots } = follower(PROFILE, options);
    expect(targetOf(url)).toBe('/shop/index.html');
    expect(await robots.canFetch(url)).toBe(false);
    expect(asked).toEqual(['http://www.example.com/robots.txt']);
  });

  it('"Remember to use all lower case for the filename: “robots.txt”, not “Robots.TXT."', async () => {
    const server = await site([{ status: 404 }], { '/Robots.TXT': MAIN, '/ROBOTS.TXT': MAIN });
    const { robots } = follower(PROFILE);
    expect(await robots.canFetch(server.url('/'))).toBe(true);
    expect(server.requests.map(({ path }) => path)).toEqual(['/robots.txt']);
  });
});

describe('What to put in it', () => {
  it('"is a text file, with one or more records."', () => {
    const { excluded } = reader(
      PROFILE,
      'User-agent: ExampleBot',
      'Disallow: /a',
      '',
      'User-agent: OtherBot',
      'Disallow: /b',
    );
    expect(excluded(['/a', '/b'], 'ExampleBot')).toEqual(['/a']);
    expect(excluded(['/a', '/b'], 'OtherBot')).toEqual(['/b']);
  });

  it('"In this example, three directories are excluded."', () => {
    const { excluded } = reader(
      PROFILE,
      'User-agent: *',
      'Disallow: /cgi-bin/',
      'Disallow: /tmp/',
      'Disallow: /~joe/',
    );
    const inside = ['/cgi-bin/', '/cgi-bin/a', '/tmp/x/y', '/~joe/', '/~joe/index.html'];
    expect(excluded([...inside, '/', '/tmp', '/cgi-bin', '/~jim/', '/a/tmp/'])).toEqual(inside);
  });

  it('"you need a separate “Disallow” line for every URL prefix you want to exclude — you cannot say “Disallow: /cgi-bin/ /tmp/” on a single line."', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /cgi-bin/ /tmp/');
    // It is one prefix, with a space in it.
    const targets = ['/cgi-bin/a', '/tmp/a', '/cgi-bin/%20/tmp/a'];
    expect(excluded(targets)).toEqual(['/cgi-bin/%20/tmp/a']);
  });

  // The Internet draft and Google say otherwise: a group goes on over blank lines.
  it('"you may not have blank lines in a record, as they are used to delimit multiple records."', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /a', '', 'Disallow: /b');
    expect(excluded(['/a', '/b'])).toEqual(['/a']);
    // RFC 9309 and Google read on.
    expect(
      reader('rfc9309', 'User-agent: *', 'Disallow: /a', '', 'Disallow: /b').excluded(['/a', '/b']),
    ).toEqual(['/a', '/b']);
  });

  it('"globing and regular expression are not supported in either the User-agent or Disallow lines."', () => {
    const { excluded } = reader(
      PROFILE,
      'User-agent: *',
      'Disallow: /a.c',
      'Disallow: /[b]',
      'Disallow: /d$',
    );
    expect(excluded(['/abc', '/a.c', '/b', '/[b]', '/d', '/d$', '/d$e'])).toEqual([
      '/a.c',
      '/[b]',
      '/d$',
      '/d$e',
    ]);
    expect(reader(PROFILE, 'User-agent: Ex.*Bot', 'Disallow: /').may('/', 'ExampleBot')).toBe(true);
  });

  it('"The ‘*’ in the User-agent field is a special value meaning “any robot”."', () => {
    const { may } = reader(PROFILE, 'User-agent: GoodBot', 'Disallow:', '', 'User-agent: *', 'Disallow: /');
    expect(may('/', 'AnyBot')).toBe(false);
    expect(may('/', 'GoodBot')).toBe(true);
  });

  it('"you cannot have lines like “User-agent: *bot*”, “Disallow: /tmp/*” or “Disallow: *.gif”."', () => {
    expect(reader(PROFILE, 'User-agent: *bot*', 'Disallow: /').may('/', 'ExampleBot')).toBe(true);
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /tmp/*', 'Disallow: *.gif');
    // A star is a star.
    expect(excluded(['/tmp/', '/tmp/a', '/tmp/*', '/a.gif', '/*.gif'])).toEqual(['/tmp/*']);
  });

  it('"Everything not explicitly disallowed is considered fair game to retrieve."', () => {
    const { file, may } = reader(PROFILE, 'User-agent: *', 'Disallow: /a');
    expect(file.check('/b', 'ExampleBot')).toMatchObject({ allowed: true, reason: 'no-rule' });
    expect(may('/')).toBe(true);
    expect(reader(PROFILE, 'User-agent: OtherBot', 'Disallow: /').may('/a')).toBe(true);
  });
});

describe('Examples', () => {
  it('"To exclude all robots from the entire server"', () => {
    const { may } = reader(PROFILE, 'User-agent: *', 'Disallow: /');
    expect([may('/'), may('/a', 'Google'), may('/tmp/')]).toEqual([false, false, false]);
  });

  it('"To allow all robots complete access"', () => {
    // As printed, where the page has lost the empty Disallow line, and as it was meant.
    for (const lines of [['User-agent: *'], ['User-agent: *', 'Disallow:']]) {
      const { may } = reader(PROFILE, ...lines);
      expect([may('/'), may('/a', 'Google'), may('/tmp/')]).toEqual([true, true, true]);
    }
  });

  it.each([
    ['an empty file', ''],
    ['none at all', { status: 404 }],
  ])('"(Or just create an empty “/robots.txt” file, or don’t use one at all)": %s', async (_, answer) => {
    const server = await site([answer]);
    const { robots } = follower(PROFILE);
    expect(await robots.canFetch(server.url('/'))).toBe(true);
    expect(await robots.canFetch(server.url('/tmp/a'), 'Google')).toBe(true);
    expect(server.robotsCount).toBe(1);
  });

  it('"To exclude all robots from part of the server"', () => {
    const { excluded } = reader(
      PROFILE,
      'User-agent: *',
      'Disallow: /cgi-bin/',
      'Disallow: /tmp/',
      'Disallow: /junk/',
    );
    expect(excluded(['/', '/cgi-bin/a', '/tmp/b', '/junk/c', '/junk.html'])).toEqual([
      '/cgi-bin/a',
      '/tmp/b',
      '/junk/c',
    ]);
  });

  it('"To exclude a single robot"', () => {
    const { may } = reader(PROFILE, 'User-agent: BadBot', 'Disallow: /');
    expect([may('/', 'BadBot'), may('/', 'badbot/1.0'), may('/', 'GoodBot')]).toEqual([false, false, true]);
  });

  it('"To allow a single robot"', () => {
    const { may } = reader(PROFILE, 'User-agent: Google', 'Disallow:', '', 'User-agent: *', 'Disallow: /');
    expect([may('/', 'Google'), may('/', 'ExampleBot')]).toEqual([true, false]);
    // As printed the example has lost "Disallow:" and the blank line, and says the contrary of its heading: two
    // names, one record. "User-agent: Google / User-agent: * / Disallow: /" cannot be read as it was meant.
    const printed = reader(PROFILE, 'User-agent: Google', 'User-agent: *', 'Disallow: /');
    expect([printed.may('/', 'Google'), printed.may('/', 'ExampleBot')]).toEqual([false, false]);
  });

  // The draft of 1996 and all later documents have one.
  it('"This is currently a bit awkward, as there is no “Allow” field."', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Allow: /~joe/index.html', 'Disallow: /~joe/');
    expect(excluded(['/~joe/index.html', '/~joe/'])).toEqual(['/~joe/index.html', '/~joe/']);
  });

  it('"The easy way is to put all files to be disallowed into a separate directory, say “stuff”"', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /~joe/stuff/');
    expect(excluded(['/~joe/index.html', '/~joe/stuff/a.html'])).toEqual(['/~joe/stuff/a.html']);
  });

  it('"Alternatively you can explicitly disallow all disallowed pages"', () => {
    const { excluded } = reader(
      PROFILE,
      'User-agent: *',
      'Disallow: /~joe/junk.html',
      'Disallow: /~joe/foo.html',
      'Disallow: /~joe/bar.html',
    );
    expect(excluded(['/~joe/junk.html', '/~joe/foo.html', '/~joe/bar.html', '/~joe/index.html'])).toEqual([
      '/~joe/junk.html',
      '/~joe/foo.html',
      '/~joe/bar.html',
    ]);
  });
});

/*
 * What a client cannot obey: "Robots can ignore your /robots.txt" and "The /robots.txt file is a publicly available
 * file" warn site owners; "The details" tells the history; where the file lies on the server's disk is its owner's
 * affair.
 */
