import { createHash } from 'node:crypto';
import type { RedisArgument, SendCommand } from './connection.ts';

/**
 * Runs a Lua script on keys of one hash slot. Servers replicate the effects of a script, not its text, so it may read
 * the server's clock.
 */
export type RedisScript = (
  send: SendCommand,
  keys: readonly [string, ...string[]],
  ...args: RedisArgument[]
) => Promise<unknown>;

function redisScript(source: string): RedisScript {
  const digest = createHash('sha1').update(source).digest('hex');
  return async (send, keys, ...args) => {
    const count = String(keys.length);
    try {
      return await send(keys[0], 'EVALSHA', digest, count, ...keys, ...args);
    } catch (error) {
      // A server forgets scripts when it restarts, and each cluster node has its own.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return send(keys[0], 'EVAL', source, count, ...keys, ...args);
    }
  };
}

/**
 * Acquires a lease. KEYS[1] the lease, KEYS[2] the value, if it is read too; ARGV[1] the unique name of the holder,
 * ARGV[2] the duration in ms, ARGV[3] the bytes to read of the value. Returns the token and the value, or nothing.
 *
 * The current holder gets the lease again, because a client that lost its connection may repeat the command. Tokens go on
 * from that of the value where the clock was set back, or a replica took over whose clock is behind.
 */
export const takeLease: RedisScript = redisScript(`
local token = redis.call('GET', KEYS[1])
if token and string.sub(token, -string.len(ARGV[1])) ~= ARGV[1] then return false end
local value = KEYS[2] and redis.pcall('GETRANGE', KEYS[2], 0, ARGV[3])
if type(value) ~= 'string' then value = '' end
if not token then
  local time = redis.call('TIME')
  local number = time[1] * 1000000 + time[2]
  if #value > 2 and string.byte(value, 1) == 102 then
    local stored = string.sub(value, 3, 2 + string.byte(value, 2))
    local last = tonumber(string.match(stored, '^(%d+)%-') or '')
    if last and last >= number and last < 2 ^ 53 - 1 then number = last + 1 end
  end
  token = string.format('%.0f-%s', number, ARGV[1])
  redis.call('SET', KEYS[1], token, 'PX', ARGV[2])
end
if not KEYS[2] then return {token} end
return {token, value}
`);

/** Releases a lease. KEYS[1] the lease; ARGV[1] the token it must have. */
export const releaseLease: RedisScript = redisScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/**
 * Writes a value, unless the stored one has a later token. The token is a prefix of the value (`value-encoding.ts`). What does
 * not begin as a token of `takeLease` is junk, which must not keep values out.
 * KEYS[1] the value, KEYS[2] the lease, if it is released too; ARGV[1] the new value, ARGV[2] the token it is written
 * under, ARGV[3] its lifetime in ms.
 */
export const setFenced: RedisScript = redisScript(`
local later = false
local head = redis.pcall('GETRANGE', KEYS[1], 0, 256)
if type(head) == 'string' and #head > 2 and string.byte(head, 1) == 102 then
  local stored = string.sub(head, 3, 2 + string.byte(head, 2))
  later = string.match(stored, '^%d+%-') ~= nil and stored > ARGV[2]
end
if not later then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3]) end
if KEYS[2] and redis.call('GET', KEYS[2]) == ARGV[2] then redis.call('DEL', KEYS[2]) end
return later and 0 or 1
`);

/**
 * Reads a schedule: the end of the last slot, the end of the pause, when both were written, and the delay of that slot,
 * in microseconds of the server's clock, because clients' clocks may differ. When that clock was set back, waits go on
 * from where they were.
 */
const READ_SCHEDULE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stored = redis.call('GET', KEYS[1]) or ''
local slot, paused, written, delay = string.match(stored, '^(%d+) (%d+) (%d+) (%d+)$')
slot, paused = tonumber(slot) or 0, tonumber(paused) or 0
written, delay = tonumber(written) or now, tonumber(delay) or 0
local setback = math.max(0, written - now)
slot, paused = math.max(0, slot - setback), math.max(0, paused - setback)
`;

const WRITE_SCHEDULE = `
local ttl = math.ceil((math.max(now, slot, paused) - now + math.max(delay, ARGV[2])) / 1000)
local text = string.format('%.0f %.0f %.0f %.0f', slot, paused, now, delay)
redis.call('SET', KEYS[1], text, 'PX', string.format('%.0f', ttl))
`;

/**
 * Books a slot. KEYS[1] the schedule; ARGV[1] the delay of the slot, ARGV[2] the least time to keep the key after it,
 * ARGV[3] and ARGV[4] the shortest and the longest wait, ARGV[5] the duration of the slot, all in microseconds. Returns
 * the time until the slot, which is not booked when that is more than the longest wait, and until the end of the pause.
 */
export const bookSlot: RedisScript = redisScript(`${READ_SCHEDULE}
local at = math.max(now + ARGV[3], paused, slot + math.max(delay, ARGV[1]))
if at - now <= tonumber(ARGV[4]) then
  slot, delay = at + ARGV[5], tonumber(ARGV[1])
  ${WRITE_SCHEDULE}
end
return {at - now, math.max(0, paused - now)}
`);

/**
 * Pauses a schedule. KEYS[1] the schedule; ARGV[1] the pause from now on, 0 to read only, ARGV[2] the time to keep the
 * key after it, both in microseconds. Returns the time until the end of the pause in force.
 */
export const pauseSlots: RedisScript = redisScript(`${READ_SCHEDULE}
if ARGV[1] ~= '0' then
  paused = math.max(paused, now + ARGV[1])
  ${WRITE_SCHEDULE}
end
return math.max(0, paused - now)
`);
