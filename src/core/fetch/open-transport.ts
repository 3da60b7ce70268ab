// By condition `platform/undici.ts` or `platform/fetch.ts`: see `imports` in package.json.
import { platform } from '#platform';
import type { AddressPolicy } from '../net/address-policy.ts';
import { type FetchFunction, fetchTransport } from './fetch-transport.ts';
import type { Transport } from './transport.ts';
import type { UndiciTransportOptions } from './undici-transport.ts';

interface TransportSettings extends Pick<UndiciTransportOptions, 'dispatcher' | 'lookup'> {
  readonly transport: FetchFunction | Transport | undefined;
  readonly addressPolicy: AddressPolicy;
  readonly deadlineMs: number;
}

/** The transport of a client. Loads undici if the settings need it. */
export async function openTransport(settings: TransportSettings): Promise<Transport> {
  const { transport, dispatcher, lookup, addressPolicy, deadlineMs: connectTimeoutMs } = settings;
  const { undici } = platform;
  if (transport !== undefined) {
    undici?.surviveManyCodings();
    return typeof transport === 'function' ? fetchTransport(transport) : transport;
  }
  const publicOnly = addressPolicy === 'public-only';
  // Settings without a transport are for platforms with undici only.
  return undici!.openTransport({ dispatcher, publicOnly, lookup, connectTimeoutMs });
}
