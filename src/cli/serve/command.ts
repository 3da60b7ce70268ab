import type { Command } from '../frame/command.ts';
import { exitCode } from '../frame/exit-code.ts';
import { agentOption, deadlineOption, profileOption, proxyOption } from '../frame/options.ts';

/** `canfetch serve`: gives the same answers over HTTP, for crawlers in other languages and for people. */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'Answer over HTTP: JSON for crawlers in other languages, a page for people',
  operands: '',
  operandsHelp: 'It takes no operands. What it answers is described at /openapi.json; / is the page.',
  options: [
    { name: 'host', value: 'ADDRESS', help: 'where to listen; 127.0.0.1 by default, for this machine alone' },
    { name: 'port', value: 'PORT', help: '8309 by default; 0 takes one that is free, and prints it' },
    {
      name: 'allow-host',
      value: 'NAME',
      repeatable: true,
      help: 'a name under which it may be asked, besides localhost and the address it listens on',
    },
    {
      name: 'allow-private',
      help: 'ask sites at private, loopback and link-local addresses too, not public ones alone',
    },
    { ...agentOption, help: 'who asks when a request names no agent; the first also signs the requests' },
    profileOption,
    deadlineOption,
    proxyOption,
  ],
  examples: [
    { line: 'canfetch serve', does: 'then open http://127.0.0.1:8309/' },
    {
      line: 'canfetch serve --host 0.0.0.0 --allow-host robots.internal -a ExampleBot/1.0',
      does: 'for a fleet that knows it as robots.internal',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'it was ended by SIGTERM, and has answered what was under way' },
    { code: exitCode.usage, says: 'wrong usage, or an address that cannot be listened on' },
  ],
  notes: [],
  run: async (given, session) => (await import('./run.ts')).serve(given, session),
};
