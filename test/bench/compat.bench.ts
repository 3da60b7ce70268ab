import robotsParser, { type Robot } from '../../src/extras/robots-parser/robots-parser.ts';
import type { BenchFile } from './files.ts';
import { interleave, type Row } from './measure.ts';
import { robotsParser as peerParser } from './peer.ts';

const AGENT = 'ExampleBot';

/** The methods that both have. Version 3.0.1 has no `isExplicitlyDisallowed`. */
type Methods = Pick<
  Robot,
  | 'isAllowed'
  | 'isDisallowed'
  | 'getMatchingLineNumber'
  | 'getCrawlDelay'
  | 'getSitemaps'
  | 'getPreferredHost'
>;
type Call = (robots: Methods, url: string) => unknown;

const calls: Readonly<Record<keyof Methods, Call>> = {
  isAllowed: (robots, url) => robots.isAllowed(url, AGENT),
  isDisallowed: (robots, url) => robots.isDisallowed(url, AGENT),
  getMatchingLineNumber: (robots, url) => robots.getMatchingLineNumber(url, AGENT),
  getCrawlDelay: (robots) => robots.getCrawlDelay(AGENT),
  getSitemaps: (robots) => robots.getSitemaps(),
  getPreferredHost: (robots) => robots.getPreferredHost(),
};

/** Bars other than 1. What returns a field takes nanoseconds, which vary more than a method could. */
const LATER: Readonly<Record<string, number>> = { isAllowed: 8, getSitemaps: 0.8, getPreferredHost: 0.8 };

/** Each method of `canfetch/robots-parser` against the package of that name: on a new file, and on one in use. */
export function compat(files: readonly BenchFile[], rounds: number): Row[] {
  const texts = files.map(({ host, text, urls }) => ({ robots: `https://${host}/robots.txt`, text, urls }));
  const ours = texts.map(({ robots, text }) => robotsParser(robots, text));
  const peers = texts.map(({ robots, text }) => peerParser(robots, text));
  return Object.entries(calls).flatMap(([name, call]) => {
    const first = interleave(
      {
        ours: () =>
          texts.forEach(({ robots, text, urls }) => call(robotsParser(robots, text), urls[0] ?? '')),
        peer: () => texts.forEach(({ robots, text, urls }) => call(peerParser(robots, text), urls[0] ?? '')),
      },
      rounds,
    );
    const later = interleave(
      {
        ours: () => texts.forEach(({ urls }, at) => urls.forEach((url) => call(ours[at]!, url))),
        peer: () => texts.forEach(({ urls }, at) => urls.forEach((url) => call(peers[at]!, url))),
      },
      rounds,
    );
    const questions = texts.reduce((sum, { urls }) => sum + urls.length, 0);
    return [
      row(`robotsParser(url, text).${name}(…)`, first, texts.length, 1),
      row(`${name}(…) on a file in use`, later, questions, LATER[name] ?? 1),
    ];
  });
}

function row(what: string, took: Record<'ours' | 'peer', number>, count: number, bar: number): Row {
  const each = (ms: number): string => `${((ms / count) * 1e6).toFixed(0)} ns`;
  const ratio = took.peer / took.ours;
  return {
    what,
    ours: each(took.ours),
    peer: each(took.peer),
    ratio: `${ratio.toFixed(1)} ×`,
    bar: `≥ ${bar} ×`,
    held: ratio >= bar,
  };
}
