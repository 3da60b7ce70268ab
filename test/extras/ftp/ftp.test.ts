import { createHash } from 'node:crypto';
import { ftpTransport } from '../../../src/extras/ftp/ftp.ts';
import { ControlSocket } from '../../../src/extras/ftp/ftp-session.ts';
import { fetchRobots } from '../../../src/core/fetch/fetch-robots.ts';
import type { FetchRobotsOptions, Transport } from '../../../src/core/fetch/transport.ts';
import { profiles } from '../../../src/core/lifecycle/index.ts';
import type { Outcome } from '../../../src/core/lifecycle/outcome.ts';
import {
  type FtpAnswer,
  type FtpScript,
  type FtpSite,
  passive,
  send,
  startFtpSite,
} from '../../support/ftp-site.ts';
import { AGENT, ATTEMPT, bodyOf, LIMIT, lines, RULES } from '../../core/fetch/context.ts';
import { opened } from '../../support/opened.ts';
import { REFUSING_HOST } from '../../support/site.ts';
import { once } from 'node:events';
import { createServer, type AddressInfo, type LookupFunction, Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';

const site = async (script?: FtpScript): Promise<FtpSite> => opened(await startFtpSite(script));

function fetch(origin: string, options: Partial<FetchRobotsOptions> = {}): Promise<Outcome> {
  return fetchRobots({
    ...ATTEMPT,
    origin,
    userAgent: AGENT,
    profile: profiles.rfc9309,
    transport: ftpTransport(),
    deadlineMs: 30_000,
    ...options,
  });
}

async function outcomeOf(script: FtpScript, options?: Partial<FetchRobotsOptions>): Promise<Outcome> {
  return fetch((await site(script)).origin, options);
}

describe('RETR /robots.txt', () => {
  it('logs in as anonymous, asks for every byte as it is, and leaves', async () => {
    const server = await site({ RETR: send(RULES) });
    const outcome = await fetch(server.origin);
    expect(outcome).toEqual({
      kind: 'success',
      status: 226,
      finalUrl: `${server.origin}/robots.txt`,
      hops: 0,
      headers: {},
      body: new Uint8Array(Buffer.from(RULES)),
      sha256: createHash('sha256').update(RULES).digest('hex'),
      truncated: false,
    });
    await server.whenLeft();
    expect(server.commands.slice(0, 5)).toEqual([
      'USER anonymous',
      'PASS ExampleBot@',
      'TYPE I',
      'EPSV',
      'RETR /robots.txt',
    ]);
    expect(server.connections()).toBe(1);
    expect(server.dataConnections()).toBe(1);
  });

  it('leaves the credentials of a URL out, and says who comes as the caller likes', async () => {
    const server = await site();
    const transport = ftpTransport({ password: 'bot@example.com' });
    await fetch(server.origin.replace('ftp://', 'ftp://jane:secret@'), { transport });
    expect(server.commands).toEqual(expect.arrayContaining(['USER anonymous', 'PASS bot@example.com']));
    expect(server.commands.join()).not.toMatch(/jane|secret/);
  });

  it.each<[object, string]>([
    ...['bot\r\nDELE /x', '', 'ü', 5].map((password): [object, string] => [{ password }, '`password`']),
    [{ user: 'jane' }, 'Expected only known options, got `user`'],
  ])('refuses %j', (options, message) => {
    expect(() => Reflect.apply(ftpTransport, undefined, [options])).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: expect.stringContaining(message),
      }),
    );
  });

  it('asks for no password where none is needed, and waits out a greeting that says so', async () => {
    const server = await site({
      greeting: ({ reply }) => reply('120 In a moment.', '220-Welcome', '220-230 is no end', '220 now.'),
      USER: '230 Come in.',
      RETR: send(RULES),
    });
    expect(bodyOf(await fetch(server.origin))).toBe(RULES);
    expect(server.commands.some((command) => command.startsWith('PASS'))).toBe(false);
  });

  it('keeps binary junk and an empty file as they are', async () => {
    const junk = Uint8Array.from({ length: 70_000 }, (_, at) => (10 + at * 7919) % 256);
    const outcome = await outcomeOf({ RETR: send(junk) });
    expect(outcome.kind === 'success' && Buffer.from(outcome.body).equals(junk)).toBe(true);
    expect(await outcomeOf({ RETR: send('') })).toMatchObject({ kind: 'success', body: new Uint8Array(0) });
  });

  it('reaches port 21 where the URL names none', async () => {
    const asked = vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket) {
      this.destroy(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
      return this;
    });
    try {
      expect(await fetch('ftp://127.0.0.1')).toMatchObject({ kind: 'unreachable', error: 'ECONNREFUSED' });
      expect(asked).toHaveBeenCalledWith({ host: '127.0.0.1', port: 21 });
    } finally {
      asked.mockRestore();
    }
  });
});

describe('the body limit over FTP', () => {
  it('lets go of what follows, and of the line that it cuts', async () => {
    const file = lines(LIMIT);
    const server = await site({
      RETR: async ({ reply, data }) => {
        reply('150 Here it comes, without end.');
        const socket = await data();
        const more = (): void => {
          while (socket.writable && socket.write(lines(65_536))) {
            // Until the client reads no more.
          }
        };
        socket.on('drain', more).write(`${file}z`);
        more();
      },
    });
    const outcome = await fetch(server.origin);
    expect(outcome).toMatchObject({ kind: 'success', truncated: true });
    expect(bodyOf(outcome) === file.slice(0, file.lastIndexOf('\n') + 1)).toBe(true);
    await server.whenLeft();
  });

  it('keeps the last line of a file that ends exactly there', async () => {
    const outcome = await outcomeOf({ RETR: send(lines(LIMIT)) });
    expect(outcome).toMatchObject({ kind: 'success', truncated: false });
    expect(bodyOf(outcome) === lines(LIMIT)).toBe(true);
  });
});

describe('replies', () => {
  it('550 to RETR: there is no such file', async () => {
    expect(await outcomeOf({ RETR: '550 No such file.' })).toEqual({
      kind: 'unavailable',
      status: 550,
      finalUrl: expect.stringMatching(/^ftp:.*\/robots\.txt$/),
      hops: 0,
      headers: {},
    });
  });

  const refusals: readonly [name: string, script: FtpScript, status: number][] = [
    ['too many users', { greeting: '421 Too many users.' }, 421],
    ['an account that is asked for', { PASS: '332 Account?' }, 332],
    // 550 speaks of the file only in answer to RETR.
    ['a login that answers 550', { USER: '550 Permission denied.' }, 550],
    ['no passive mode', { EPSV: '550 Permission denied.', PASV: '550 Permission denied.' }, 550],
    ['a file that is busy', { RETR: '450 Busy.' }, 450],
    ['HTTP’s own redirect', { RETR: '302 Elsewhere.' }, 302],
  ];
  it.each(refusals)('%s: unreachable', async (_, script, status) => {
    const server = await site(script);
    const outcome = await fetch(server.origin);
    expect(outcome).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_STATUS', status });
    await server.whenLeft();
  });

  it('a code that FTP has not is no FTP', async () => {
    expect(await outcomeOf({ RETR: '650 Private.' })).toMatchObject({
      kind: 'unreachable',
      error: 'ERR_ROBOTS_MALFORMED',
    });
    expect(await outcomeOf({ greeting: '000 Zero.' })).toMatchObject({ error: 'ERR_ROBOTS_MALFORMED' });
  });
});

describe('a transfer that breaks off', () => {
  const whole = 'User-agent: *\nAllow: /\n';
  const broken: readonly [name: string, RETR: FtpAnswer, seen: object][] = [
    [
      'with 426',
      async ({ reply, data }) => {
        reply('150 Here it comes.');
        (await data()).end(whole, () => reply('426 Broken.'));
      },
      { error: 'ERR_ROBOTS_STATUS', status: 426 },
    ],
    [
      'with 550, which comes too late to say that there is no file,',
      async ({ reply, data }) => {
        reply('125 Here it comes.');
        (await data()).end(() => reply('550 The network is gone.'));
      },
      { error: 'ERR_ROBOTS_STATUS', status: 550 },
    ],
    [
      'without a word',
      async ({ reply, data }) => {
        reply('150 Here it comes.');
        (await data()).end(whole);
      },
      { error: 'ERR_ROBOTS_DEADLINE' },
    ],
    [
      'when both connections close',
      async ({ reply, data, control }) => {
        reply('150 Here it comes.');
        (await data()).end(whole, () => control.end());
      },
      { error: 'ERR_ROBOTS_FTP_CLOSED' },
    ],
  ];
  it.each(broken)('%s is unreachable', async (_, RETR, seen) => {
    const server = await site({ RETR });
    // Nothing but a deadline is waited for so shortly.
    const deadlineMs = 'error' in seen && seen.error === 'ERR_ROBOTS_DEADLINE' ? 300 : 5_000;
    expect(await fetch(server.origin, { deadlineMs })).toMatchObject({ kind: 'unreachable', ...seen });
    await server.whenLeft();
  });
});

describe('the data connection', () => {
  const noEpsv = { EPSV: '500 Unknown command.' } as const;

  it('is opened by PASV where EPSV is not known', async () => {
    const server = await site({ ...noEpsv, RETR: send(RULES) });
    expect(bodyOf(await fetch(server.origin))).toBe(RULES);
    expect(server.commands).toContain('PASV');
  });

  it('goes to the host of the control connection, whatever PASV names', async () => {
    const strangers: Socket[] = [];
    const stranger = createServer((socket) => void strangers.push(socket));
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.2', resolve));
    const { port } = stranger.address() as AddressInfo;
    opened(stranger);
    const elsewhere = await outcomeOf({ ...noEpsv, PASV: passive('127,0,0,2', port) });
    expect(elsewhere).toMatchObject({ kind: 'unreachable', error: 'ECONNREFUSED' });
    expect(strangers).toHaveLength(0);
    // A host behind an address translation sends its private address; the port is good.
    const translated = await outcomeOf({
      ...noEpsv,
      PASV: async ({ listen, reply }) => reply(passive('10,9,8,7', await listen())),
      RETR: send(RULES),
    });
    expect(bodyOf(translated)).toBe(RULES);
  });

  it.each([
    ['EPSV with a foreign host', { EPSV: '229 (|1|10.0.0.1|21|)' }],
    ['EPSV with too large a port', { EPSV: '229 (|||65536|)' }],
    ['PASV without numbers', { ...noEpsv, PASV: '227 Entering.' }],
    ['PASV with too large an byte', { ...noEpsv, PASV: '227 (127,0,0,1,256,1)' }],
    ['PASV with port 0', { ...noEpsv, PASV: '227 (127,0,0,1,0,0)' }],
  ] satisfies [string, FtpScript][])('%s is no FTP', async (_, script) => {
    const server = await site(script);
    expect(await fetch(server.origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_MALFORMED' });
    expect(server.dataConnections()).toBe(0);
  });

  it('reads PASV without parentheses', async () => {
    const outcome = await outcomeOf({
      ...noEpsv,
      PASV: async ({ listen, reply }) => {
        const port = await listen();
        reply(`227 =127,0,0,1,${port >> 8},${port & 255}`);
      },
      RETR: send(RULES),
    });
    expect(bodyOf(outcome)).toBe(RULES);
  });
});

describe('replies in pieces', () => {
  it('are read as the lines they are', async () => {
    const server = await site({
      greeting: ({ control }) => {
        control.setNoDelay(true);
        const pieces = ['22', '0-Welcome to 55', '0 files\r', '\n220', ' Ready.\r\n'];
        const next = (): void => {
          const piece = pieces.shift();
          if (piece !== undefined) control.write(piece, () => setImmediate(next));
        };
        next();
      },
      RETR: send(RULES),
    });
    expect(bodyOf(await fetch(server.origin))).toBe(RULES);
  });
});

describe('a hostile control connection', () => {
  const endless =
    (line: string): FtpAnswer =>
    ({ control }) => {
      const more = (): void => {
        while (control.writable && control.write(line.repeat(100))) {
          // Until the client reads no more.
        }
      };
      control.on('drain', more);
      more();
    };
  const floods: readonly [name: string, script: FtpScript][] = [
    ['a greeting of many lines', { greeting: endless('220-Welcome to the endless server\r\n') }],
    ['preliminary replies to RETR', { RETR: endless('150 Wait\r\n') }],
    ['unrequested replies', { TYPE: endless('200 Okay\r\n') }],
    ['blank lines', { greeting: endless('\r\n') }],
  ];
  it.each(floods)('%s is cut', async (_, script) => {
    const server = await site(script);
    const outcome = await fetch(server.origin, { deadlineMs: 10_000 });
    expect(outcome).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_FTP_REPLY_LIMIT' });
    await server.whenLeft();
  });

  it('in very many pieces is cut: each costs work', async () => {
    const socket = new ControlSocket();
    const failed = once(socket, 'error');
    for (let pieces = 0; pieces < 1_024; pieces++) socket.push(Buffer.from('2'));
    expect(socket.destroyed).toBe(false);
    socket.push(Buffer.from('2'));
    expect(await failed).toEqual([expect.objectContaining({ code: 'ERR_ROBOTS_FTP_REPLY_LIMIT' })]);
  });

  it('is left at the deadline when it says nothing, or too little', async () => {
    const silent = await site({ greeting: () => undefined });
    expect(await fetch(silent.origin, { deadlineMs: 100 })).toMatchObject({ error: 'ERR_ROBOTS_DEADLINE' });
    await silent.whenLeft();
    const http = await site({ greeting: 'HTTP/1.1 400 Bad Request' });
    expect(await fetch(http.origin, { deadlineMs: 100 })).toMatchObject({ error: 'ERR_ROBOTS_DEADLINE' });
    await http.whenLeft();
  });

  it('is left at the deadline when the file drips', async () => {
    const server = await site({
      RETR: async ({ reply, data }) => {
        reply('150 Slowly.');
        const socket = await data();
        const timer = setInterval(() => socket.write('D'), 10);
        socket.once('close', () => clearInterval(timer));
      },
    });
    expect(await fetch(server.origin, { deadlineMs: 150 })).toMatchObject({ error: 'ERR_ROBOTS_DEADLINE' });
    await server.whenLeft();
  });

  it.each([
    ['the greeting', { greeting: ({ control }) => void control.end('220-Wel') }],
    ['the login', { USER: ({ control }) => void control.end('331') }],
    ['EPSV', { EPSV: ({ control }) => void control.end('229 (|||2') }],
    ['RETR', { RETR: ({ control }) => void control.end() }],
  ] satisfies [string, FtpScript][])('that closes in %s is unreachable', async (_, script) => {
    const server = await site(script);
    expect(await fetch(server.origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_FTP_CLOSED' });
    await server.whenLeft();
  });

  it('that is refused or reset is unreachable by that name', async () => {
    const { origin } = await site({ USER: ({ control }) => void control.resetAndDestroy() });
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'ECONNRESET' });
    const refused = await fetch(`ftp://${REFUSING_HOST}`);
    expect(refused).toMatchObject({ kind: 'unreachable', error: 'ECONNREFUSED' });
  });
});

describe('abort', () => {
  it.each(['greeting', 'EPSV', 'RETR'] as const)('while waiting for %s closes everything', async (step) => {
    const leave = new AbortController();
    const reason = new Error('aborted');
    const server = await site({ [step]: () => leave.abort(reason) });
    await expect(fetch(server.origin, { signal: leave.signal })).rejects.toBe(reason);
    await server.whenLeft();
  });

  it('within the file closes everything', async () => {
    const leave = new AbortController();
    const server = await site({
      RETR: async ({ reply, data }) => {
        reply('150 Some of it.');
        (await data()).write(RULES, () => leave.abort());
      },
    });
    const reason: unknown = await fetch(server.origin, { signal: leave.signal }).catch((error) => error);
    expect(reason).toBe(leave.signal.reason);
    expect(leave.signal.aborted).toBe(true);
    await server.whenLeft();
  });

  it('an unread response is released', async () => {
    const server = await site({ RETR: send(lines(LIMIT)) });
    const { signal } = new AbortController();
    const response = await ftpTransport().request(new URL(`${server.origin}/robots.txt`), {
      headers: {},
      signal,
      publicOnly: false,
    });
    response.discard();
    await server.whenLeft();
  });
});

describe('names', () => {
  /** Hands the request a look-up, as a check of addresses does. */
  function through(lookup: LookupFunction): Transport {
    const transport = ftpTransport();
    return { request: (url, init) => transport.request(url, { ...init, lookup }) };
  }

  it('are looked up once, by the look-up that is given', async () => {
    const server = await site({ RETR: send(RULES) });
    const asked: string[] = [];
    const transport = through((name, _options, callback) => {
      asked.push(name);
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    });
    expect(bodyOf(await fetch(`ftp://files.example:${server.port}`, { transport }))).toBe(RULES);
    // The data connection goes to the address that was found.
    expect(asked).toEqual(['files.example']);
  });
});

describe('without the package basic-ftp', () => {
  it('the transport says what to install', async () => {
    vi.resetModules();
    vi.doMock('node:module', () => ({
      createRequire: () => () => {
        throw Object.assign(new Error("Cannot find module 'basic-ftp'"), { code: 'MODULE_NOT_FOUND' });
      },
    }));
    try {
      const fresh = await import('../../../src/extras/ftp/ftp.ts');
      expect(() => fresh.ftpTransport()).toThrow(
        expect.objectContaining({
          code: 'ERR_ROBOTS_INVALID_OPTIONS',
          message: expect.stringContaining('npm install basic-ftp'),
          cause: expect.objectContaining({ code: 'MODULE_NOT_FOUND' }),
        }),
      );
    } finally {
      vi.doUnmock('node:module');
      vi.resetModules();
    }
  });
});
