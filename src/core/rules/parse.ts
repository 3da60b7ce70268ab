import { quote, RobotsInvalidOptionsError, show } from '../base/index.ts';
import { type Dialect, dialects } from './dialect.ts';
import { RobotsFile } from './file.ts';
import { utf8 } from './bytes.ts';

export interface ParseOptions {
  /** The dialect in which the file is read. Default `'rfc9309'`. */
  readonly dialect?: Dialect;
}

/**
 * Reads a robots.txt file. All bytes are accepted: unreadable lines are skipped, as RFC 9309 §2.3.1.5 asks
 * ("crawlers MUST try to parse each line … MUST use the parseable rules").
 *
 * Pass bytes rather than a string if possible: invalid UTF-8 is then compared as it was served. The bytes are kept,
 * not copied, so do not change them afterwards.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for an unknown dialect or a body that is neither
 * bytes nor a string.
 *
 * @example
 * ```ts
 * import { parseRobots } from 'canfetch/rules';
 *
 * const file = parseRobots('User-agent: *\nAllow: /p\nDisallow: /');
 * file.check('/page', 'ExampleBot'); // { allowed: true, reason: 'rule', rule: { directive: 'allow', … }, … }
 * ```
 */
export function parseRobots(body: Uint8Array | string, options: ParseOptions = {}): RobotsFile {
  if (typeof options !== 'object' || options === null)
    throw new RobotsInvalidOptionsError(`Expected the options to be an object, got ${show(options)}`);
  const dialect = options.dialect ?? 'rfc9309';
  if (!Object.hasOwn(dialects, dialect)) {
    throw new RobotsInvalidOptionsError(
      `Expected \`dialect\` to be one of ${Object.keys(dialects).join(', ')}, got ${quote(dialect)}`,
    );
  }
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new RobotsInvalidOptionsError(`Expected a string or a Uint8Array, got ${show(body)}`);
  }
  const bytes = typeof body === 'string' ? utf8.encode(body) : body;
  const utf16 = utf16Of(bytes);
  return utf16 !== undefined && dialects[dialect].transcodesUtf16
    ? new RobotsFile(utf8.encode(new TextDecoder(utf16).decode(bytes)), dialect, true)
    : new RobotsFile(bytes, dialect, utf16 !== undefined);
}

/** The encoding of a UTF-16 byte order mark. The body is transcoded, and the mark dropped. */
function utf16Of([first = 0, second = 0]: Uint8Array): string | undefined {
  const mark = (first << 8) | second;
  return mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : undefined;
}
