import { RECORD_VERSION } from './record/record-codec.ts';

/** Longer than any DNS name: such an origin is not stored. */
export const MAX_ORIGIN_LENGTH = 300;

/**
 * The key of a record or a lease: the record's version, the cache namespace, and the origin. Records and leases have
 * keys of their own, so that a store can keep both in the same way.
 */
export function storeKey(kind: 'record' | 'lease', namespace: string, origin: string): string {
  return `v${RECORD_VERSION}:${kind}:${namespace}:${origin}`;
}

/** The key of slots. All clients share the slots of a site, whatever their namespace. */
export function slotKey(origin: string): string {
  return `v${RECORD_VERSION}:slot:${origin}`;
}

/** The cache namespace: clients share records only if these are equal. */
export interface CacheNamespace {
  /** Product token of the requests. Sites respond to crawlers differently. */
  readonly token: string;
  /** A stricter policy must not use a response from an address that it would have refused. */
  readonly addressPolicy: string;
}

/** The namespace as a part of {@link storeKey}. */
export function namespaceKey({ token, addressPolicy }: CacheNamespace): string {
  return `${token.toLowerCase()}:${addressPolicy}`;
}

const RECORD_KEY = new RegExp(`^v${RECORD_VERSION}:record:([^:]*):([^:]*):(.+)$`, 's');

/** The namespace and the origin of a record's key; `undefined` for any other key or version. */
export function readRecordKey(key: string): (CacheNamespace & { readonly origin: string }) | undefined {
  const [, token, addressPolicy, origin] = RECORD_KEY.exec(key) ?? [];
  if (token === undefined || addressPolicy === undefined || origin === undefined) return undefined;
  return { token, addressPolicy, origin };
}
