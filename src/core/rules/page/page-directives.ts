import { type HeaderFields, headerLines, invalid } from '../../base/index.ts';
import { productToken } from '../agent.ts';
import { licenseLinks } from '../usage/usage-source.ts';
import { type Directive, isBareDirective, readDirectives } from './directive-list.ts';

/** A `<meta name="…" content="…">` tag of a page, as an HTML parser returns it. */
export interface MetaTag {
  readonly name?: string | null | undefined;
  readonly content?: string | null | undefined;
}

/** The input of {@link pageDirectives}. */
export interface PageDirectivesInput {
  /** The header fields of the response, in any form that a library has. */
  readonly headers?: HeaderFields | undefined;
  /** The meta tags of the page. Tags with unrelated names are ignored. */
  readonly meta?: Iterable<MetaTag> | undefined;
  /**
   * A product token, a User-Agent string, or a list of them. Directives for any of these agents apply.
   * @default only directives for all agents apply
   */
  readonly agent?: string | readonly string[] | undefined;
}

/** The directives of a page about its indexing and use. They are reported, never enforced. */
export interface PageDirectives {
  /** False by `noindex` and `none`. */
  readonly index: boolean;
  /** False by `nofollow` and `none`. */
  readonly follow: boolean;
  /** False by `noarchive` and `nocache`. */
  readonly archive: boolean;
  /** False by `nosnippet` and `max-snippet: 0`. */
  readonly snippet: boolean;
  /** False by `noimageindex`. */
  readonly imageIndex: boolean;
  /** False by `notranslate`. */
  readonly translate: boolean;
  /** True by `indexifembedded`: the content may be indexed where another page embeds it, in spite of `noindex`. */
  readonly indexIfEmbedded: boolean;
  /** The maximum length of a snippet, in characters. Absent: no limit. */
  readonly maxSnippet?: number;
  /** The largest image preview allowed. Absent: the page does not say. */
  readonly maxImagePreview?: ImagePreview;
  /** The maximum length of a video preview, in seconds. Absent: no limit. */
  readonly maxVideoPreview?: number;
  /** Epoch ms from which the page should not be shown in results. Compare it with your clock. */
  readonly unavailableAfter?: number;
  /** False by `noai`. */
  readonly ai: boolean;
  /** False by `noimageai`. */
  readonly imageAi: boolean;
  /** True by `tdm-reservation: 1`: the rights to text and data mining are reserved. */
  readonly tdmReserved: boolean;
  /** The URL of `tdm-policy`, as written. It leads to the terms under which mining is allowed. */
  readonly tdmPolicy?: string;
  /** Targets of `Link` fields with `rel="license"`, as written: the first 100. */
  readonly licenses: readonly string[];
  /** The directives found, including those that were not understood: the first 100. */
  readonly sources: readonly PageDirectiveSource[];
  /** The number of directives left out of `sources`. They are applied nevertheless. */
  readonly omitted?: number;
}

/** The size of an image preview: `none` < `standard` < `large`. */
export type ImagePreview = 'none' | 'standard' | 'large';

/** One directive that applies to the agent. */
export interface PageDirectiveSource {
  readonly from: 'header' | 'meta';
  /** The header field or meta tag, in lower case: `x-robots-tag`, `robots`, `googlebot`, `tdm-reservation`, … */
  readonly field: string;
  /** The agent that an X-Robots-Tag line names, in lower case. */
  readonly agent?: string;
  /** The name of the directive, in lower case: its first 1,000 characters. */
  readonly directive: string;
  /** The value as written: its first 1,000 characters. */
  readonly value?: string;
  /** Whether the directive is known and its value valid. A directive that is not understood has no effect. */
  readonly understood: boolean;
}

/** RFC 9110 §4.1 asks for 8,000 bytes at least. A longer `tdm-policy` is noted, and is no URL. */
const MAX_URL_LENGTH = 8_000;
/** Bounds the memory that `sources` and `licenses` take. Directives past the bound are applied nevertheless. */
const MAX_SOURCES = 100;
/** Bounds what a source keeps of a directive. */
const MAX_CHARACTERS = 1_000;

const FIELDS = ['x-robots-tag', 'tdm-reservation', 'tdm-policy', 'link'];
const FOR_ALL: readonly string[] = ['robots', '*'];
const PREVIEWS: readonly ImagePreview[] = ['none', 'standard', 'large'];

/**
 * Reads the directives of a page about its indexing and use, from the header of its response and its meta tags:
 * `X-Robots-Tag` and `<meta name="robots">` (Google's specification, with Bing's `nocache` and DeviantArt's `noai` and
 * `noimageai`), `tdm-reservation` and `tdm-policy` (TDM Reservation Protocol), `Link` with `rel="license"` (RFC 8288,
 * RFC 4946).
 *
 * - When directives conflict, the most restrictive applies: "the more restrictive rule applies" (Google). Of dates this
 *   is the earliest. Permissions such as `all` and `index` do not revoke a restriction.
 * - Directives for one agent (`X-Robots-Tag: examplebot: noindex`, `<meta name="examplebot">`) apply in addition to
 *   those for all agents, when `agent` is that agent. Names are compared without regard to case.
 * - An agent in an X-Robots-Tag line applies up to the next agent or the end of the line. `Headers` joins lines with
 *   commas, so the lines `googlebot: nofollow` and `noindex` are read as one line for googlebot. Pass the lines
 *   separately where your client has them.
 * - A directive that is unknown, or has an invalid value, is listed in `sources` and has no effect.
 *
 * Directives are not enforced, and no HTML is parsed: the caller's parser finds the meta tags.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the input is no object, or a part of it is not what
 *   it must be.
 *
 * @example
 * ```ts
 * const found = pageDirectives({
 *   headers: [
 *     ['X-Robots-Tag', 'otherbot: noindex'],
 *     ['X-Robots-Tag', 'unavailable_after: Friday, 25-Jun-10 15:00:00 EST, max-snippet: 50'],
 *   ],
 *   meta: [{ name: 'robots', content: 'nofollow, max-snippet: 20' }],
 *   agent: 'ExampleBot',
 * });
 * found.index; // true
 * found.follow; // false
 * found.maxSnippet; // 20
 * new Date(found.unavailableAfter ?? 0).toISOString(); // '2010-06-25T20:00:00.000Z'
 * ```
 */
export function pageDirectives(input: PageDirectivesInput): PageDirectives {
  if (typeof input !== 'object' || input === null)
    throw invalid('the input', 'an object with `headers`, `meta` or both', input);
  const { headers, meta = [], agent = [] } = input;
  if (headers != null && typeof headers !== 'object') throw invalid('`headers`', 'header fields', headers);
  if (typeof meta?.[Symbol.iterator] !== 'function') throw invalid('`meta`', 'a list of meta tags', meta);
  if (typeof agent !== 'string' && !Array.isArray(agent))
    throw invalid('`agent`', 'a string or a list of strings', agent);
  const page = new Page(agent);
  for (const field of FIELDS) for (const line of headerLines(headers, field)) page.readHeader(field, line);
  for (const tag of meta) {
    const { name, content } = tag ?? {};
    if (typeof name === 'string' && typeof content === 'string')
      page.readMeta(name.trim().toLowerCase(), content);
  }
  return page.result();
}

type FieldPlace = Pick<PageDirectiveSource, 'from' | 'field'>;

/** Collects the directives of one page. */
class Page {
  readonly #agents: ReadonlySet<string>;
  readonly #stated = new Set<string>();
  readonly #limits: { maxSnippet?: number; maxVideoPreview?: number; unavailableAfter?: number } = {};
  #preview: ImagePreview | undefined;
  #indexIfEmbedded = false;
  #tdmReserved = false;
  #tdmPolicy: string | undefined;
  readonly #licenses: string[] = [];
  readonly #sources: PageDirectiveSource[] = [];
  #found = 0;

  constructor(agent: string | readonly string[]) {
    const agents = typeof agent === 'string' ? [agent] : agent;
    const tokens = agents.map((each) => (productToken(each) ?? each).toLowerCase());
    this.#agents = new Set([...FOR_ALL, ...tokens]);
  }

  readHeader(field: string, value: string): void {
    const where: FieldPlace = { from: 'header', field };
    if (field === 'x-robots-tag') this.#readList(where, value, true);
    else if (field === 'link') this.#readLinks(where, value);
    else this.#readTdm(where, value);
  }

  readMeta(field: string, content: string): void {
    const where: FieldPlace = { from: 'meta', field };
    if (this.#agents.has(field)) this.#readList(where, content, false);
    else this.#readTdm(where, content);
  }

  #readList(where: FieldPlace, text: string, namesAgents: boolean): void {
    for (const directive of readDirectives(text, namesAgents)) {
      const { agent, name, value } = directive;
      if (agent !== undefined && !this.#agents.has(agent)) continue;
      this.#note(where, name, value, this.#take(directive), agent);
    }
  }

  /** Applies a directive. @returns whether it was understood. */
  #take(directive: Directive): boolean {
    const { name, value, epochMs } = directive;
    switch (name) {
      case 'unavailable_after':
        return this.#limit('unavailableAfter', epochMs);
      case 'max-snippet':
        return this.#limitOf('maxSnippet', value);
      case 'max-video-preview':
        return this.#limitOf('maxVideoPreview', value);
      case 'max-image-preview': {
        const rank = PREVIEWS.findIndex((each) => each === value?.toLowerCase());
        if (rank === -1) return false;
        if (this.#preview === undefined || rank < PREVIEWS.indexOf(this.#preview))
          this.#preview = PREVIEWS[rank];
        return true;
      }
    }
    if (!isBareDirective(directive)) return false;
    if (name === 'indexifembedded') this.#indexIfEmbedded = true;
    else this.#stated.add(name);
    return true;
  }

  /** Applies a limit; "-1" means no limit. @returns whether the value was valid. */
  #limitOf(name: 'maxSnippet' | 'maxVideoPreview', value: string | undefined): boolean {
    if (value === '-1') return true;
    return this.#limit(name, value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined);
  }

  #limit(name: 'maxSnippet' | 'maxVideoPreview' | 'unavailableAfter', value: number | undefined): boolean {
    if (value === undefined) return false;
    this.#limits[name] = Math.min(this.#limits[name] ?? value, value);
    return true;
  }

  #readTdm(where: FieldPlace, text: string): void {
    if (where.field === 'tdm-reservation') {
      // Several lines may have been joined: "1, 1".
      for (const part of text.split(',')) {
        const value = part.trim();
        if (value === '1') this.#tdmReserved = true;
        this.#note(where, where.field, value, value === '1' || value === '0');
      }
    } else if (where.field === 'tdm-policy') {
      const value = text.trim();
      const isUrl = value !== '' && value.length <= MAX_URL_LENGTH;
      if (isUrl) this.#tdmPolicy ??= value;
      this.#note(where, where.field, value, isUrl);
    }
  }

  #readLinks(where: FieldPlace, text: string): void {
    for (const { target } of licenseLinks(text)) {
      if (this.#licenses.length < MAX_SOURCES) this.#licenses.push(target);
      this.#note(where, 'license', target, true);
    }
  }

  #note(
    where: FieldPlace,
    directive: string,
    value: string | undefined,
    understood: boolean,
    agent?: string,
  ): void {
    this.#found++;
    if (this.#sources.length === MAX_SOURCES) return;
    this.#sources.push({
      ...where,
      ...(agent !== undefined && { agent }),
      directive: directive.slice(0, MAX_CHARACTERS),
      ...(value !== undefined && { value: value.slice(0, MAX_CHARACTERS) }),
      understood,
    });
  }

  result(): PageDirectives {
    const stated = this.#stated;
    const says = (...names: readonly string[]): boolean => names.some((name) => stated.has(name));
    return {
      index: !says('noindex', 'none'),
      follow: !says('nofollow', 'none'),
      archive: !says('noarchive', 'nocache'),
      snippet: !says('nosnippet') && this.#limits.maxSnippet !== 0,
      imageIndex: !says('noimageindex'),
      translate: !says('notranslate'),
      indexIfEmbedded: this.#indexIfEmbedded,
      ...this.#limits,
      ...(this.#preview !== undefined && { maxImagePreview: this.#preview }),
      ai: !says('noai'),
      imageAi: !says('noimageai'),
      tdmReserved: this.#tdmReserved,
      ...(this.#tdmPolicy !== undefined && { tdmPolicy: this.#tdmPolicy }),
      licenses: this.#licenses,
      sources: this.#sources,
      ...(this.#found > MAX_SOURCES && { omitted: this.#found - MAX_SOURCES }),
    };
  }
}
