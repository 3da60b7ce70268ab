import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRobots } from '../../src/core/rules/index.ts';
import { RobotsClient } from '../../src/index.ts';
import { bulkUrls, loopbackOrigins } from './bulk-urls.ts';
import { interleave, median, type Row } from './measure.ts';
import { PROGRAM, type ProgramRun, runProgram, startProcess } from './program.ts';

const LINES = 200_000;
const MANY_LINES = 1_000_000;
const ROBOTS = `User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\n`;

/** The command over lists of URLs. */
export async function command(rounds: number): Promise<Row[]> {
  return inFolder((folder, robots) => lists(folder, robots, rounds));
}

/** What it takes from nothing to the answer. */
export async function starting(rounds: number): Promise<Row[]> {
  return inFolder(async (_, robots) => starts(robots, rounds));
}

async function inFolder(measure: (folder: string, robots: string) => Promise<Row[]>): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'canfetch-bench-'));
  try {
    const robots = join(folder, 'robots.txt');
    await writeFile(robots, ROBOTS);
    return await measure(folder, robots);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function lists(folder: string, robots: string, rounds: number): Promise<Row[]> {
  const site = await startProcess('loopback-server.js');
  const origins = loopbackOrigins(100, site.port);
  const list = join(folder, 'urls.txt');
  const manyList = join(folder, 'many.txt');
  await writeFile(list, `${bulkUrls(origins, LINES).join('\n')}\n`);
  await writeFile(manyList, `${bulkUrls(origins, MANY_LINES).join('\n')}\n`);
  const check = async (path: string, argv: readonly string[]): Promise<ProgramRun> => {
    const file = await open(path);
    const run = await runProgram(
      ['check', '-', '--json', '-a', 'ExampleBot', ...argv],
      file.createReadStream(),
    );
    await file.close();
    return run;
  };
  const loopMs = await loopTimes(list, rounds);
  const took: { offline: ProgramRun; online: ProgramRun }[] = [];
  for (let round = 0; round < rounds; round++) {
    const offline = await check(list, ['--robots', robots]);
    const online = await check(list, []);
    for (const { lines } of [offline, online]) {
      if (lines !== LINES) throw new Error(`Expected ${LINES} answers, got ${lines}`);
    }
    took.push({ offline, online });
  }
  const many = { offline: await check(manyList, ['--robots', robots]), online: await check(manyList, []) };
  site.child.disconnect();
  return (['offline', 'online'] as const).flatMap((way): Row[] => {
    const ratio = median(took.map((each) => each[way].ms)) / loopMs[way];
    const peak = median(took.map((each) => each[way].peakBytes));
    const more = (many[way].peakBytes - peak) / 1_048_576;
    const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
    const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MiB`;
    return [
      {
        what: `\`check - --json\`, ${LINES.toLocaleString('en')} URLs`,
        way,
        ours: seconds(median(took.map((each) => each[way].ms))),
        peer: `${seconds(loopMs[way])} JSON.stringify(${way === 'offline' ? 'file.check(url)' : 'peek(url)'})`,
        ratio: `${ratio.toFixed(1)} × its time`,
        bar: '≤ 4 ×',
        used: ratio / 4,
      },
      {
        what: `its memory with ${MANY_LINES.toLocaleString('en')} URLs`,
        way,
        ours: megabytes(many[way].peakBytes),
        peer: `${megabytes(peak)} with ${LINES}`,
        ratio: `+ ${more.toFixed(0)} MiB`,
        bar: '≤ + 50 MiB',
        used: more / 50,
      },
    ];
  });
}

/** What a program of one line would take: offline with the rules of a file, online with a client that knows the origins. */
async function loopTimes(list: string, rounds: number): Promise<Record<'offline' | 'online', number>> {
  const urls = readFileSync(list, 'utf8').trimEnd().split('\n');
  const file = parseRobots(ROBOTS);
  const robots = new RobotsClient({ agent: 'ExampleBot' });
  await robots.prefetch(urls);
  const stringifyEach = (decide: (url: string) => unknown): void => {
    for (const url of urls) JSON.stringify(decide(url));
  };
  const times = interleave(
    {
      offline: () => stringifyEach((url) => file.check(url, 'ExampleBot')),
      online: () => stringifyEach((url) => robots.peek(url)),
    },
    rounds,
  );
  await robots.close();
  return times;
}

function starts(robots: string, rounds: number): Row[] {
  const commands = {
    bare: ['-e', '0'],
    help: [PROGRAM, '--help'],
    check: [PROGRAM, 'check', '--robots', robots, '-a', 'ExampleBot', 'https://example.com/page'],
  };
  const took: Record<keyof typeof commands, number>[] = [];
  for (let round = -1; round < rounds; round++) {
    const times = { bare: timed(commands.bare), help: timed(commands.help), check: timed(commands.check) };
    if (round >= 0) took.push(times);
  }
  const row = (name: 'help' | 'check', what: string, most: number): Row => {
    const [ours, bare] = [median(took.map((each) => each[name])), median(took.map((each) => each.bare))];
    // Of processes that ran one after the other, because the speed of a shared machine drifts.
    const ratio = median(took.map((each) => each[name] / each.bare));
    return {
      what,
      ours: `${ours.toFixed(0)} ms`,
      peer: `${bare.toFixed(0)} ms node -e 0`,
      ratio: `${ratio.toFixed(2)} ×`,
      bar: `≤ ${most} ×`,
      used: ratio / most,
    };
  };
  return [row('help', '`canfetch --help`', 1.5), row('check', '`canfetch check --robots FILE URL`', 1.8)];
}

function timed(argv: readonly string[]): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Expected ${argv.join(' ')} to succeed:\n${stderr}`);
  return performance.now() - started;
}
