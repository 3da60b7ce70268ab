import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * `node build/test/package/container.js FOLDER`: builds and runs the Dockerfile of the service's guide, with the packed
 * package of the folder. Where no container tool works, its steps are run one by one in a folder that stands for the
 * image, and its user by a number.
 */
const GUIDE = 'src/apps/serve/README.md';
const PORT = 8309;
const URL_OF_SERVICE = `http://127.0.0.1:${PORT}`;
/** `node` in the official images. */
const USER_ID = 1000;

interface Instruction {
  readonly name: string;
  readonly text: string;
}

const run = promisify(execFile);
const dockerfile = /^```dockerfile\n(.*?)^```$/ms.exec(readFileSync(GUIDE, 'utf8'))?.[1] ?? '';
const instructions = dockerfile.split('\n').flatMap((line): Instruction[] => {
  const [, name = '', text = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
  return name === '' ? [] : [{ name, text }];
});

function expect(what: string, holds: boolean, came: unknown = ''): void {
  if (!holds) throw new Error(`ERROR: expected ${what}, got ${String(came)}`);
  console.log(`${what}: yes`);
}

/** The text of the only instruction of that name. */
function only(name: string): string {
  const texts = instructions.filter((each) => each.name === name).map(({ text }) => text);
  if (texts.length !== 1) throw new Error(`ERROR: expected one ${name}, got ${texts.length}`);
  return texts[0] ?? '';
}

/** The list of a `HEALTHCHECK`, an `ENTRYPOINT` or a `CMD`: a program that no shell runs, so that it gets the signals. */
const list = (text: string): string[] => JSON.parse(text.replace(/^CMD /, '')) as string[];

/** What is beside the Dockerfile. The package is not from the registry, but the one that is packed. */
async function makeContext(folder: string, packed: string): Promise<string> {
  const context = join(folder, 'context');
  const name = readdirSync(packed).find((file) => /^canfetch-.*\.tgz$/.test(file));
  if (name === undefined) throw new Error(`ERROR: expected a packed package in ${packed}, got none`);
  mkdirSync(context);
  cpSync(join(packed, name), join(context, name));
  const manifest = {
    name: 'service',
    version: '1.0.0',
    private: true,
    dependencies: { canfetch: `file:${name}` },
  };
  writeFileSync(join(context, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--package-lock-only', '--silent', '--no-audit'], { cwd: context });
  writeFileSync(join(context, 'Dockerfile'), dockerfile.replace('COPY ', `COPY ${name} `));
  return context;
}

async function hasDocker(): Promise<boolean> {
  return run('docker', ['info']).then(
    () => true,
    () => false,
  );
}

/** Resolves when the service answers, within five minutes: CI runs this on processors that are busy with other tests. */
async function healthy(origin: string): Promise<void> {
  for (let attempts = 1_500; ; attempts--) {
    const response = await fetch(`${origin}/healthz`).catch(() => undefined);
    if (response?.ok === true) return;
    if (attempts === 0) throw new Error(`ERROR: expected ${origin}/healthz to answer 200 in time`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function inContainer(context: string): Promise<void> {
  const docker = async (...args: string[]): Promise<string> => (await run('docker', args)).stdout.trim();
  const image = await docker('build', '--quiet', context);
  const container = await docker('run', '--detach', '--publish', `127.0.0.1::${PORT}`, image);
  try {
    await healthy(`http://${await docker('port', container, String(PORT))}`);
    const user = await docker('exec', container, 'id', '-u');
    expect('the service runs as the user of the image', user === String(USER_ID), user);
    await docker('exec', container, ...list(only('HEALTHCHECK')));
    await docker('stop', container);
    const code = await docker('inspect', '--format', '{{.State.ExitCode}}', container);
    expect('it ends with 0 on SIGTERM', code === '0', code);
  } finally {
    await docker('rm', '--force', container);
    await docker('rmi', '--force', image);
  }
}

/** The instructions, in a folder that stands for the file system of the image. */
async function stepByStep(folder: string, context: string): Promise<void> {
  const workFolder = join(folder, 'image', only('WORKDIR'));
  mkdirSync(workFolder, { recursive: true });
  const env: NodeJS.ProcessEnv = { ...process.env, HOME: folder };
  for (const { name, text } of instructions) {
    const [first = '', ...others] = text.split(' ');
    if (name === 'ENV') Object.assign(env, Object.fromEntries([text.split('=')]));
    if (name === 'COPY') {
      const tarball = readdirSync(context).filter((file) => file.endsWith('.tgz'));
      const to = others.pop() ?? '';
      for (const file of [first, ...others, ...tarball])
        cpSync(join(context, file), join(workFolder, to, file));
    }
    if (name === 'RUN') execFileSync('sh', ['-c', text], { cwd: workFolder, env, stdio: 'inherit' });
  }
  expect(
    'nothing of development is in it',
    !readdirSync(join(workFolder, 'node_modules')).includes('vitest'),
  );
  // Without privileges the service runs as the user who runs this, who has none either.
  const user = process.getuid?.() === 0 ? { uid: USER_ID, gid: USER_ID } : {};
  const options = { cwd: workFolder, env, ...user };
  const [program = '', ...args] = list(only('HEALTHCHECK'));
  const isHealthy = (): Promise<boolean> =>
    run(program, args, options).then(
      () => true,
      () => false,
    );
  expect('the health check fails while nothing runs', !(await isHealthy()), `something on port ${PORT}`);
  const [service = '', ...given] = [...list(only('ENTRYPOINT')), ...list(only('CMD'))];
  const child = spawn(service, given, { ...options, stdio: 'inherit' });
  const ended = once(child, 'exit');
  try {
    await healthy(URL_OF_SERVICE);
    expect('the health check passes', await isHealthy());
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const id = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
    expect('the service does not run as root', id > 0, id);
    child.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    expect('it ends with 0 on SIGTERM', code === 0, code);
  } finally {
    child.kill('SIGKILL');
  }
}

const [packed = ''] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'canfetch-container-'));
try {
  // The user of the image reads it.
  chmodSync(folder, 0o755);
  const lines = dockerfile.trim().split('\n').length;
  expect(
    'the Dockerfile has ten lines, each an instruction',
    lines === 10 && instructions.length === 10,
    lines,
  );
  expect(
    'it starts from the official image of a supported Node',
    /^node:2[0-9]-slim$/.test(only('FROM')),
    only('FROM'),
  );
  expect('it exposes the port of the service', only('EXPOSE') === String(PORT), only('EXPOSE'));
  expect('it leaves out what is for development', only('RUN') === 'npm ci --omit=dev', only('RUN'));
  expect('its user is not root', only('USER') === 'node', only('USER'));
  const context = await makeContext(folder, packed);
  if (await hasDocker()) await inContainer(context);
  else await stepByStep(folder, context);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
