/** Runs the contract in a runtime that runs scripts: Node, Bun, Deno. Arguments: the control server, the runtime. */
import { runContract } from './contract.ts';

const [control = '', runtime = ''] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await runContract(control, JSON.parse(runtime))));
