import { RECORD_VERSION } from './record/record-codec.ts';

/**
 * What a store knows a record or a lease by: the record's version, who asks, and the origin. Records and leases have
 * keys of their own, so that a store may keep both in the same way.
 */
export function storeKey(kind: 'record' | 'lease', asker: string, origin: string): string {
  return `v${RECORD_VERSION}:${kind}:${asker}:${origin}`;
}

/** Whoever asks, it is one site that is to be spared. */
export function slotKey(origin: string): string {
  return `v${RECORD_VERSION}:slot:${origin}`;
}

/** Who asks, as far as it makes a difference to what may be learnt. */
export interface Asker {
  /** Of its requests: sites answer one crawler otherwise than another. */
  readonly token: string;
  /** What an address gave that would not have been asked under our policy is none of ours. */
  readonly addressPolicy: string;
}

/** A part of {@link storeKey}. */
export function askerKey({ token, addressPolicy }: Asker): string {
  return `${token.toLowerCase()}:${addressPolicy}`;
}

const RECORD_KEY = new RegExp(`^v${RECORD_VERSION}:record:([^:]*):([^:]*):(.+)$`, 's');

/** Whose record of which origin a key is of; `undefined` when of none, or of another version. */
export function readRecordKey(key: string): (Asker & { readonly origin: string }) | undefined {
  const [, token, addressPolicy, origin] = RECORD_KEY.exec(key) ?? [];
  if (token === undefined || addressPolicy === undefined || origin === undefined) return undefined;
  return { token, addressPolicy, origin };
}
