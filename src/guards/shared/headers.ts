/** The headers of requests and responses, in the forms of all libraries. */
import { headerField, headerLines, isNamed, pairsIn } from '../../core/base/index.ts';
import { asksForPause } from '../../core/lifecycle/index.ts';
import { isRedirect } from '../../core/fetch/location.ts';

/** Header fields by lower-case name. If a field has several lines, returns the first, or all of them joined. */
export interface Fields {
  get(name: string): string | null;
}

/** Headers as Node returns them: by lower-case name. */
export type NodeHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The header fields of a response; as a list, those of Node's `rawHeaders`. */
export type ResponseFields = Fields | NodeHeaders | readonly string[];

/** The part of a response that says what follows. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseFields;
}

/** The value of a field that has one line; the first line of several. */
export function fieldOf(headers: ResponseFields, name: string): string | null {
  return headerLines(headers, name)[0] ?? null;
}

/** Whether a response leads on. Fetch standard, step 4: "If locationURL is null, then return response." */
export function redirects(status: number, headers: ResponseFields): boolean {
  return isRedirect(status) && fieldOf(headers, 'location') !== null;
}

/** The `Retry-After` of a response that asks for a pause. */
export function retryAfterOf(status: number, headers: ResponseFields): string | undefined {
  return asksForPause(status) ? headerField(headers, 'retry-after') : undefined;
}

/** Headers of any library, by names in lower case. `AxiosHeaders` has these methods. */
export interface EditableHeaders {
  get(name: string): unknown;
  set(name: string, value: string): unknown;
}

/**
 * Headers in one of the forms that `fetch`, undici and got take: an object, `Headers` or another iterable of pairs, a
 * list of pairs, or a flat list of names and values. What the caller gave is not changed.
 */
export class HeaderCopy implements EditableHeaders {
  /** In the form in which they were given; iterables as an object. */
  headers: unknown;

  constructor(headers: unknown) {
    this.headers = headers;
  }

  get(name: string): unknown {
    return headerOf(this.headers, name);
  }

  set(name: string, value: string): void {
    const { headers } = this;
    // The library refuses other values.
    if (typeof headers !== 'object' && headers !== undefined) return;
    const fields = fieldsIn(headers).filter(([each]) => !isNamed(each, name));
    fields.push([name, value]);
    if (!Array.isArray(headers) || headers.length === 0) this.headers = Object.fromEntries(fields);
    else this.headers = isFlat(headers) ? fields.flat() : fields;
  }
}

/** The value of a header field, in any of the forms of {@link HeaderCopy}. Allocates nothing for an object. */
export function headerOf(headers: unknown, name: string): unknown {
  if (typeof headers !== 'object' || headers === null) return undefined;
  if (Array.isArray(headers) || Symbol.iterator in headers) {
    return fieldsIn(headers).find(([each]) => isNamed(each, name))?.[1];
  }
  for (const key in headers) {
    if (isNamed(key, name) && Object.hasOwn(headers, key)) return Reflect.get(headers, key);
  }
  return undefined;
}

function fieldsIn(headers: object | null | undefined): (readonly unknown[])[] {
  const list = headers ?? {};
  return Symbol.iterator in list ? [...pairsIn(list as Iterable<unknown>)] : Object.entries(list);
}

/** Whether names and values follow each other in one list, as undici takes them. */
function isFlat(items: readonly unknown[]): boolean {
  return typeof items[0] === 'string';
}
