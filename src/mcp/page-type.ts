import { ToolError } from './refusal.ts';

/** Types outside `text/` whose content is text. */
const TEXT_TYPES: ReadonlySet<string> = new Set(
  [
    'ecmascript',
    'graphql',
    'javascript',
    'json',
    'json5',
    'jsonl',
    'ndjson',
    'rtf',
    'sql',
    'toml',
    'typescript',
    'x-javascript',
    'x-ndjson',
    'x-sh',
    'x-www-form-urlencoded',
    'x-yaml',
    'xml',
    'xml-dtd',
    'yaml',
  ].map((name) => `application/${name}`),
);

/**
 * Refuses content that is not text, such as images and archives. Without a type the content itself is looked at.
 *
 * @throws ToolError
 */
export function assertText(contentType: string | undefined): void {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === '' || type.startsWith('text/') || TEXT_TYPES.has(type) || /\+(?:json|xml|yaml)$/.test(type))
    return;
  throw notText(mediaType(contentType) ?? type);
}

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,40}\/[\w!#$&^.+-]{1,80}$/;
const CHARSET = /;\s*charset\s*=\s*["']?([\w.:-]{1,40})/i;

/**
 * The media type of a `Content-Type` with its charset; `undefined` without the field. The site writes the field, and our
 * words stand around it: nothing else of it is repeated.
 */
export function mediaType(contentType: string | undefined): string | undefined {
  if (contentType === undefined || contentType.trim() === '') return undefined;
  const type = MEDIA_TYPE.exec(contentType.split(';', 1)[0]?.trim() ?? '')?.[0];
  if (type === undefined) return 'an unknown type';
  const charset = CHARSET.exec(contentType)?.[1];
  return charset === undefined ? type.toLowerCase() : `${type.toLowerCase()}; charset=${charset}`;
}

/** The error for content that is not text. */
export function notText(what: string): ToolError {
  return new ToolError(
    'ERR_ROBOTS_CONTENT_TYPE',
    `Expected a page of text (HTML, plain text, JSON, XML), got ${what}; this tool does not return binary content`,
  );
}
