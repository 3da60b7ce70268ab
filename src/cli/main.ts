#!/usr/bin/env node
/**
 * The `canfetch` program: gives the process to `run`.
 *
 * The command is the roof: it may import every room, and none imports it. It must not import a library, nor what needs
 * one, before it has something to fetch: `--help` and `--robots` are quick.
 */
import { run } from './run.ts';

const interrupted = new AbortController();
// Once: a second Ctrl-C ends the process at once, whatever it is doing.
process.once('SIGINT', () => interrupted.abort(new Error('Interrupted')));

process.exitCode = await run({
  argv: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interrupted.signal,
  onTerminate(listener) {
    process.once('SIGTERM', listener);
    return () => process.off('SIGTERM', listener);
  },
});
