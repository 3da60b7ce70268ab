import { RECORD_VERSION } from './record-codec.ts';

/**
 * What a store knows a record or a lease by: the record's version, who asks (as sites may answer one crawler otherwise
 * than another), and the origin. Records and leases have keys of their own, so that a store may keep both in the same
 * way.
 */
export function storeKey(kind: 'record' | 'lease', asker: string, origin: string): string {
  return `v${RECORD_VERSION}:${kind}:${asker}:${origin}`;
}

/** Whoever asks, it is one site that is to be spared. */
export function slotKey(origin: string): string {
  return `v${RECORD_VERSION}:slot:${origin}`;
}

/** What names an asker: the product token of its requests. */
export function askerOf(token: string): string {
  return token.toLowerCase();
}

const RECORD_KEY = new RegExp(`^v${RECORD_VERSION}:record:([^:]*):(.+)$`, 's');

/** Whose record of which origin a key is of; `undefined` when of none, or of another version. */
export function readRecordKey(key: string): { readonly asker: string; readonly origin: string } | undefined {
  const [, asker, origin] = RECORD_KEY.exec(key) ?? [];
  return asker === undefined || origin === undefined ? undefined : { asker, origin };
}
