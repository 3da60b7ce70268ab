import { builtin } from './builtin.ts';

/** One channel of `node:diagnostics_channel`. */
export interface Publisher<Message> {
  readonly hasSubscribers: boolean;
  publish(message: Message): void;
}

/** Stands for every channel on platforms without `node:diagnostics_channel`. */
const silent: Publisher<unknown> = { hasSubscribers: false, publish: () => {} };

/** The channel of that name. On platforms without `node:diagnostics_channel` it has no subscribers. */
export function channel<Message>(name: string): Publisher<Message> {
  return builtin('node:diagnostics_channel')?.channel(name) ?? silent;
}
