import { createRequire } from 'node:module';
import { type Result, runContract, type Runtime } from './contract.ts';

/** Runs the contract in a runtime that runs scripts: Node, Bun, Deno. Arguments: the control server, the runtime. */
const [control = '', argument = ''] = process.argv.slice(2);
const runtime = JSON.parse(argument) as Runtime;

/** Two copies of the package would have two classes for one error, and two memories of one site. */
async function requireGivesWhatImportDoes(): Promise<Result> {
  const behaviour = 'require and import give the same classes and functions, at every entry point';
  const require = createRequire(import.meta.url);
  const { exports } = require('canfetch/package.json') as { readonly exports: object };
  const differing: string[] = [];
  for (const entryPoint of Object.keys(exports).filter((name) => !name.endsWith('.json'))) {
    const name = entryPoint.replace('.', 'canfetch');
    const imported = (await import(name)) as Readonly<Record<string, unknown>>;
    const required = require(name) as Readonly<Record<string, unknown>>;
    if ('module.exports' in imported) {
      if (imported['module.exports'] !== required || imported['default'] !== required) differing.push(name);
    } else {
      for (const [key, value] of Object.entries(imported)) {
        if (required[key] !== value) differing.push(`${name} ${key}`);
      }
    }
  }
  return differing.length === 0 ? { behaviour } : { behaviour, error: `Differ: ${differing.join(', ')}` };
}

const results = [...(await runContract(control, runtime))];
if (runtime.name.startsWith('node')) results.push(await requireGivesWhatImportDoes());
process.stdout.write(JSON.stringify(results));
