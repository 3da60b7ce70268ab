import { isIP } from 'node:net';
import { join } from 'node:path';

/** Addresses by name, in lower case. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

export const MAX_HOSTS_BYTES = 4_194_304;

export function hostsFilePath(): string {
  if (process.platform !== 'win32') return '/etc/hosts';
  return join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts');
}

/** hosts(5): an address, then the names it goes by; `#` starts a comment. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split(/\r\n?|\n/)) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const addresses = hosts.get(name);
      if (addresses === undefined) hosts.set(name, [address]);
      else if (!addresses.includes(address)) addresses.push(address);
    }
  }
  return hosts;
}
