import { createHash } from 'node:crypto';
import type { RedisArgument, SendCommand } from './connection.ts';

/** Runs a Lua script about one key. Servers replicate what it did, not its text, so it may look at their clock. */
export type RedisScript = (send: SendCommand, key: string, ...args: RedisArgument[]) => Promise<unknown>;

function redisScript(source: string): RedisScript {
  const digest = createHash('sha1').update(source).digest('hex');
  return async (send, key, ...args) => {
    try {
      return await send(key, 'EVALSHA', digest, '1', key, ...args);
    } catch (error) {
      // Each server forgets scripts when it restarts, and each node of a cluster learns them by itself.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return send(key, 'EVAL', source, '1', key, ...args);
    }
  };
}

/**
 * KEYS[1] the lease; ARGV[1] a name nobody else has, ARGV[2] milliseconds. Gives the token, or nothing.
 *
 * A client that lost a connection may send the command again: whoever holds the lease gets it again.
 */
export const takeLease: RedisScript = redisScript(`
local held = redis.call('GET', KEYS[1])
if held then
  if string.sub(held, -string.len(ARGV[1])) == ARGV[1] then return held end
  return false
end
local time = redis.call('TIME')
local token = string.format('%d%06d-%s', time[1], time[2], ARGV[1])
redis.call('SET', KEYS[1], token, 'PX', ARGV[2])
return token
`);

/** KEYS[1] the lease; ARGV[1] the token it must have. */
export const releaseLease: RedisScript = redisScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/**
 * KEYS[1] the value; ARGV[1] the next one, ARGV[2] the token it is written under, ARGV[3] milliseconds. Writes it unless
 * the value in force was written under a later token, which stands ahead of it (`record/fence.ts`).
 */
export const setFenced: RedisScript = redisScript(`
local head = redis.pcall('GETRANGE', KEYS[1], 0, 256)
if type(head) == 'string' and #head > 2 and string.byte(head, 1) == 102 then
  if string.sub(head, 3, 2 + string.byte(head, 2)) > ARGV[2] then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
`);

/**
 * KEYS[1] the last slot; ARGV[1] how far the next one is behind it, ARGV[2] how long it is remembered after its time.
 * All in microseconds, by the server's clock: the clocks of those who ask may differ. Gives the time until the slot.
 */
export const bookSlot: RedisScript = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local slot = now
local last = tonumber(redis.call('GET', KEYS[1]))
if last then slot = math.max(now, last + ARGV[1]) end
local ttl = math.ceil((slot - now + ARGV[2]) / 1000)
redis.call('SET', KEYS[1], string.format('%.0f', slot), 'PX', string.format('%.0f', ttl))
return slot - now
`);
