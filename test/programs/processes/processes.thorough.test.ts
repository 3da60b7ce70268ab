import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { opened, openedFolder } from '../../support/opened.ts';
import { answer, type Handler, type Site, startSite } from '../../support/site.ts';
import { compileScript } from '../../support/workers.ts';

/** Programs that are ended at a bad moment. A container has ten seconds; the sites ask for minutes. */
const SOON_MS = 9_000;
const RULES = 'User-agent: *\nDisallow: /private\n';

const page: Handler = (_, response) => answer(response, { body: 'a page' });

/** A site whose robots.txt is this, and whose pages under `/hang` get no response. */
async function site(robots: {
  status?: number;
  body?: string;
  headers?: Record<string, string>;
}): Promise<Site> {
  return opened(
    await startSite((request, response) => {
      if (request.url === '/robots.txt') answer(response, robots);
      else if (request.url?.startsWith('/hang') !== true) page(request, response);
    }),
  );
}
const closed = (): Promise<Site> => site({ status: 503, headers: { 'retry-after': '300' } });

/** Runs a program. When it has printed `moment`, it gets `signal`. */
async function run(
  name: string,
  args: readonly string[],
  moment = '',
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<{ code: number | null; lines: readonly string[]; endedAfterMs: number }> {
  using script = compileScript(new URL(`${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, ['--no-warnings', script.path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  opened({ [Symbol.asyncDispose]: async () => void child.kill('SIGKILL') });
  const lines: string[] = [];
  let signalledAt = Infinity;
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (moment === '' || signalledAt !== Infinity || !line.includes(moment)) continue;
    signalledAt = performance.now();
    child.kill(signal);
  }
  const endedAfterMs = performance.now() - signalledAt;
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return {
    code: child.exitCode,
    lines: lines.map((line) => line.replaceAll(/http:..127.0.0.1:\d+/g, '')),
    endedAfterMs,
  };
}

const pathsOf = ({ requests }: Site): string[] =>
  requests.map(({ url }) => url).filter((url) => url !== '/robots.txt');

it('Ctrl-C within a wait ends the loop at once, with every page told', async () => {
  const [well, busy] = [await site({ body: RULES }), await closed()];
  const urls = [well.url('/1'), busy.url('/1'), busy.url('/2'), well.url('/2')];
  const { code, lines, endedAfterMs } = await run('ctrl-c-in-a-wait', urls, 'waiting', 'SIGINT');
  expect(lines).toEqual([
    'page /1',
    'waiting',
    ...['/1', '/2', '/2'].map((path) => `left ${path} ERR_ROBOTS_CLOSED`),
  ]);
  expect([code, endedAfterMs < SOON_MS]).toEqual([0, true]);
});

it('a container that is told to stop ends before it is killed, whatever it waits for', async () => {
  const [well, slow, busy] = [
    await site({ body: RULES }),
    await site({ body: `${RULES}Crawl-delay: 60` }),
    await closed(),
  ];
  const urls = [well.url('/1'), slow.url('/1'), slow.url('/2'), busy.url('/1'), well.url('/hang')];
  const { code, lines, endedAfterMs } = await run('container-that-stops', urls, 'waiting');
  expect(
    lines
      .filter((line) => line !== 'waiting')
      .map((line) => line.split(' ')[1])
      .sort(),
  ).toEqual(['/1', '/1', '/1', '/2', '/hang'].sort());
  expect(lines.filter((line) => line.startsWith('left')).every((line) => line.endsWith('AbortError'))).toBe(
    true,
  );
  expect([code, endedAfterMs < SOON_MS]).toEqual([0, true]);
});

it('a cron job with a limit goes on where it was', async () => {
  const [well, slow] = [await site({ body: RULES }), await site({ body: `${RULES}Crawl-delay: 1` })];
  const place = openedFolder();
  const urls = [1, 2, 3]
    .flatMap((each) => [well.url(`/${each}`), slow.url(`/${each}`)])
    .concat(slow.url('/private'));
  const pages: string[] = [];
  let jobs = 0;
  // On a busy machine most of a job's time is over before its program has begun.
  for (; jobs < 40 && pages.length < 6; jobs++) {
    const { code, lines } = await run('cron-with-a-limit', [place, ...urls]);
    expect(code).toBe(0);
    pages.push(...lines.filter((line) => line.startsWith('page')));
  }
  expect(pages.sort()).toEqual(['/1', '/1', '/2', '/2', '/3', '/3'].map((path) => `page ${path}`));
  for (const each of [well, slow]) {
    expect([...new Set(pathsOf(each))].sort()).toEqual(['/1', '/2', '/3']);
    // Each, and robots.txt, once; and what was in flight when a limit came.
    expect(each.requests.length).toBeLessThanOrEqual(4 + jobs - 1);
  }
}, 240_000);

it('Ctrl-C ends a Crawlee crawl of which nothing is left but what waits', async () => {
  const [well, busy] = [await site({ body: RULES }), await closed()];
  const { code, lines, endedAfterMs } = await run(
    'crawlee-and-ctrl-c',
    [well.url('/1'), busy.url('/1')],
    'Waits for',
    'SIGINT',
  );
  expect(lines.filter((line) => line.startsWith('page'))).toEqual(['page /1']);
  expect(code).toBe(0);
  expect(endedAfterMs).toBeLessThan(SOON_MS);
});

it('a crawl that is killed at any moment goes on where it was', async () => {
  const well = await site({ body: RULES });
  const place = openedFolder();
  const urls = Array.from({ length: 6 }, (_, each) => well.url(`/${each}`));
  const first = await run('killed-and-started-again', [place, ...urls], 'page', 'SIGKILL');
  const second = await run('killed-and-started-again', [place, ...urls]);
  expect(first.code).toBeNull();
  expect(second.code).toBe(0);
  expect([...new Set(pathsOf(well))].sort()).toEqual(['/0', '/1', '/2', '/3', '/4', '/5']);
  // One may have been in flight.
  expect(pathsOf(well).length).toBeLessThanOrEqual(7);
});

it('an error ends the program although other tasks wait for a site', async () => {
  const [well, busy] = [await site({ body: RULES }), await closed()];
  const startedAt = performance.now();
  const { code, lines } = await run('error-in-the-middle', [well.url('/1'), busy.url('/1')]);
  expect(lines).toContain('failed No title in a page');
  expect(code).toBe(1);
  expect(performance.now() - startedAt).toBeLessThan(60_000);
});
