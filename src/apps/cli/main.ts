#!/usr/bin/env node
/**
 * The `canfetch` program: calls `run` with the process.
 *
 * `cli/` may import every module, and no module imports it. It must not load a library before there is something to fetch,
 * so that `--help` and `--robots` stay fast.
 */
import { run } from './run.ts';

const interrupted = new AbortController();
// `once`: a second Ctrl-C finds no listener, so Node ends the process immediately.
process.once('SIGINT', () => interrupted.abort(new Error('Interrupted')));

process.exitCode = await run({
  argv: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interrupted.signal,
  onSignal(name, listener) {
    process.on(name, listener);
    return () => process.off(name, listener);
  },
});
