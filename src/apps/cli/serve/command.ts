import { type Command, exitCode } from '../frame/command.ts';
import { agentOption, evidenceOption, onlineOptions } from '../frame/options.ts';

/** `canfetch serve`: serves decisions over HTTP to crawlers in other languages, and a page to people. */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve decisions over HTTP: JSON for crawlers in other languages, and a page for people',
  operands: '',
  operandsHelp: 'There are no operands. /openapi.json describes the API; / is the page.',
  options: [
    {
      name: 'host',
      value: 'ADDRESS',
      help: 'the address to listen on; 127.0.0.1 by default, which only this machine reaches',
    },
    {
      name: 'port',
      value: 'PORT',
      help: 'the port to listen on; 8309 by default; 0 chooses a free one and prints it',
    },
    {
      name: 'allow-host',
      value: 'NAME',
      repeatable: true,
      help: 'accept this name in the Host field, with any port, besides localhost and the address it listens on',
    },
    {
      name: 'allow-private',
      help: 'fetch from private, loopback and link-local addresses too, not only from public ones',
    },
    {
      ...agentOption,
      help: 'the agent for requests that give none; the first is also the User-Agent of fetches',
    },
    ...onlineOptions,
    evidenceOption,
    {
      name: 'log',
      help: 'write a line of JSON for each request on standard error; failures (5xx) always have one',
    },
  ],
  examples: [
    { line: 'canfetch serve', does: 'start it, then open http://127.0.0.1:8309/' },
    {
      line: 'canfetch serve --host 0.0.0.0 --allow-host robots.internal -a ExampleBot/1.0',
      does: 'serve a fleet under the name robots.internal',
    },
    {
      line: 'canfetch serve --store redis://redis.internal:6379',
      does: 'share what is fetched with the services of other machines',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'ended by SIGTERM, after it responded to the open requests' },
    { code: exitCode.usage, says: 'wrong usage, or it cannot listen on the address' },
  ],
  notes: ['With --evidence, SIGHUP starts a new file under the same path: rename the old one before.'],
  run: async (given, session) => (await import('./run.ts')).serve(given, session),
};
