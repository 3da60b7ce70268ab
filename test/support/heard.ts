import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { opened } from './opened.ts';

/** Calls `listener` with what is published on a channel from now on, until the end of the test. */
export function listen<Message>(name: string, listener: (message: Message) => void): void {
  const heard = (message: unknown): void => listener(message as Message);
  subscribe(name, heard);
  opened({ [Symbol.dispose]: () => void unsubscribe(name, heard) });
}

/** What is published on a channel from now on. */
export function heard<Message>(name: string): Message[] {
  const messages: Message[] = [];
  listen<Message>(name, (message) => void messages.push(message));
  return messages;
}
