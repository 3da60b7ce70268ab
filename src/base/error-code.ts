import { causesOf } from './causes.ts';

/** What came back is not the protocol that was spoken. */
export const MALFORMED = 'ERR_ROBOTS_MALFORMED';

/** Something broke and gave no code of its own. */
export const FETCH_FAILED = 'ERR_ROBOTS_FETCH_FAILED';

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/** The literal code of whatever was thrown, or of the outermost error in it that has one. */
export function codeOf(error: unknown): string {
  for (const each of causesOf(error)) {
    const code: unknown = Reflect.get(each, 'code');
    if (typeof code === 'string' && CODE.test(code)) return code;
    // undici gives errors of its parser a code only sometimes.
    if (Reflect.get(each, 'name') === 'HTTPParserError') return MALFORMED;
  }
  return FETCH_FAILED;
}
