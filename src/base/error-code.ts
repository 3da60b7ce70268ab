import { causesOf } from './causes.ts';

/** The response is not valid in its protocol. */
export const MALFORMED = 'ERR_ROBOTS_MALFORMED';

/** An error without a code of its own. */
export const FETCH_FAILED = 'ERR_ROBOTS_FETCH_FAILED';

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/** The literal code of a thrown value, or of the outermost wrapped error that has one. */
export function codeOf(error: unknown): string {
  for (const each of causesOf(error)) {
    // Some versions of undici give a parser error a code (`HPE_INVALID_CONSTANT`), others none.
    if (Reflect.get(each, 'name') === 'HTTPParserError') return MALFORMED;
    const code: unknown = Reflect.get(each, 'code');
    if (typeof code === 'string' && CODE.test(code)) return code;
  }
  return FETCH_FAILED;
}
