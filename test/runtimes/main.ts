import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { chromiumOptions, launchChromium } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import type { Result, runContract, Runtime } from './contract.ts';
import { startSites } from './sites.ts';

/**
 * `node build/test/runtimes/main.js FOLDER RUNTIME…`: runs the contract in runtimes, with the package and the runtimes
 * that are installed in the folder (`.ci/runtimes` installs them). Exits 1 when a behaviour fails.
 */
const NODE = { checksConnections: true, seesRedirects: true, showsFields: true, setsUserAgent: true };
const FETCH = { checksConnections: false, seesRedirects: true, showsFields: true, setsUserAgent: true };

/** A runtime that hangs is given up after this time: CI runs them last, on processors that are busy with other tests. */
const TIMEOUT_MS = 300_000;

type Run = (folder: string, control: string, runtime: Runtime) => Promise<readonly Result[]>;

const runtimes: Readonly<Record<string, { readonly runtime: Omit<Runtime, 'name'>; readonly run: Run }>> = {
  node20: { runtime: NODE, run: script('node20/bin/node') },
  node22: { runtime: NODE, run: script('node22/bin/node') },
  node24: { runtime: NODE, run: script('node24/bin/node') },
  node26: { runtime: NODE, run: script('node26/bin/node') },
  deno: { runtime: NODE, run: script('.bin/deno', 'run', '--quiet', '--allow-all') },
  bun: { runtime: FETCH, run: script('.bin/bun', 'run') },
  workerd: { runtime: FETCH, run: inWorker },
  chromium: {
    runtime: { ...FETCH, seesRedirects: false, showsFields: false, setsUserAgent: false },
    run: inPage,
  },
};

/** The compiled files of the contract, in a folder where they find the package. Others may run meanwhile. */
async function copyContract(folder: string): Promise<string> {
  const to = join(folder, `contract-${process.pid}`);
  await cp(fileURLToPath(new URL('.', import.meta.url)), to, { recursive: true });
  return to;
}

function script(program: string, ...options: readonly string[]): Run {
  return async (folder, control, runtime) => {
    const path = join(await copyContract(folder), 'script.js');
    const args = [...options, path, control, JSON.stringify(runtime)];
    const command = join(folder, 'node_modules', program);
    const run = promisify(execFile);
    const { stdout } = await run(command, args, { cwd: folder, timeout: TIMEOUT_MS });
    const results = JSON.parse(stdout) as Result[];
    const { bin } = JSON.parse(await readFile(join(folder, 'node_modules/canfetch/package.json'), 'utf8'));
    const cli = join(folder, 'node_modules/canfetch', bin.canfetch);
    const version = (await run(command, [...options, cli, '--version'], { cwd: folder })).stdout;
    const transport = runtime.checksConnections ? 'undici' : 'fetch';
    const named = new RegExp(
      `^canfetch \\S+ \\(${runtime.name.replace(/\d+/, '')} \\S+, ${transport}( \\S+)?\\)\n$`,
      'i',
    );
    const behaviour = 'the command names the runtime and the transport';
    if (!runtime.checksConnections) {
      const serving = [...options, cli, 'serve', '--port', '0'];
      const serve = run(command, serving, { cwd: folder, timeout: TIMEOUT_MS });
      const stderr = await serve.then(
        () => 'no failure',
        (error: unknown) => String(Reflect.get(Object(error), 'stderr')),
      );
      const refused = 'the service is refused without --allow-private';
      const says = stderr.includes('Expected --allow-private');
      results.push(says ? { behaviour: refused } : { behaviour: refused, error: `Got ${stderr}` });
    }
    return [
      ...results,
      named.test(version) ? { behaviour } : { behaviour, error: `Expected ${named}, got ${version}` },
    ];
  };
}

/** The contract and the package in one file, with the modules that the platform's conditions choose. */
async function bundled(
  folder: string,
  file: string,
  conditions: string[],
  format: 'esm' | 'iife',
): Promise<string> {
  const bundle = await rolldown({
    input: join(await copyContract(folder), file),
    platform: 'browser',
    resolve: { conditionNames: [...conditions, 'import', 'default'] },
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({ format, codeSplitting: false });
  await bundle.close();
  const { code, imports } = output[0];
  if (imports.length > 0) throw new Error(`Expected a bundle without imports, got ${imports.join(', ')}`);
  return code;
}

async function inWorker(folder: string, control: string, runtime: Runtime): Promise<readonly Result[]> {
  const code = await bundled(folder, 'worker.js', ['workerd', 'worker', 'browser'], 'esm');
  await writeFile(join(folder, 'worker.js'), code);
  const port = await freePort();
  // Without `nodejs_compat`: what passes here needs no Node.
  await writeFile(
    join(folder, 'workerd.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "2025-11-01", globalOutbound = "loopback")),
    (name = "loopback", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`,
  );
  const child = spawn(join(folder, 'node_modules/.bin/workerd'), ['serve', 'workerd.capnp'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    const response = await whenListening(`http://127.0.0.1:${port}/`, { control, runtime });
    return (await response.json()) as readonly Result[];
  } finally {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
}

async function whenListening(url: string, body: unknown): Promise<Response> {
  for (let waitedMs = 0; ; waitedMs += 100) {
    try {
      return await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    } catch (error) {
      if (waitedMs >= TIMEOUT_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function inPage(folder: string, control: string, runtime: Runtime): Promise<readonly Result[]> {
  const code = await bundled(folder, 'page.js', ['browser'], 'iife');
  await using browser = await launchChromium(chromiumOptions('whole'));
  const page = await browser.newPage();
  await page.goto(control);
  await page.evaluate(code);
  return await page.evaluate(
    ([server, given]) => (Reflect.get(globalThis, 'runContract') as typeof runContract)(server, given),
    [control, runtime] as const,
  );
}

const [folder = '', ...names] = process.argv.slice(2);
await using sites = await startSites();
for (const name of names.length > 0 ? names : Object.keys(runtimes)) {
  const chosen = runtimes[name];
  if (chosen === undefined)
    throw new Error(`Expected one of ${Object.keys(runtimes).join(', ')}, got ${name}`);
  const results = await chosen.run(folder, sites.control, { name, ...chosen.runtime });
  const failed = results.filter(({ error }) => error !== undefined);
  console.log(`${name}: ${results.length - failed.length} of ${results.length} behaviours hold`);
  for (const { behaviour, error } of failed) console.log(` FAIL  ${name} > ${behaviour}\n${error}`);
  if (failed.length > 0 || results.length === 0) process.exitCode = 1;
}
