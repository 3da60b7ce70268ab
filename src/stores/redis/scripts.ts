import { createHash } from 'node:crypto';
import type { RedisArgument, SendCommand } from './connection.ts';

/**
 * Runs a Lua script on a key. Servers replicate the effects of a script, not its text, so it may read the server's clock.
 */
export type RedisScript = (send: SendCommand, key: string, ...args: RedisArgument[]) => Promise<unknown>;

function redisScript(source: string): RedisScript {
  const digest = createHash('sha1').update(source).digest('hex');
  return async (send, key, ...args) => {
    try {
      return await send(key, 'EVALSHA', digest, '1', key, ...args);
    } catch (error) {
      // A server forgets scripts when it restarts, and each cluster node has its own.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return send(key, 'EVAL', source, '1', key, ...args);
    }
  };
}

/**
 * Acquires a lease. KEYS[1] the lease; ARGV[1] the unique name of the holder, ARGV[2] the duration in ms. Returns 1, or 0
 * while another holds it. The current holder gets the lease again, because a client that lost its connection may repeat
 * the command. What is no lease, or never ends, is an error: it would keep the origin from being asked.
 */
export const takeLease: RedisScript = redisScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  if #holder ~= #ARGV[1] or redis.call('PTTL', KEYS[1]) < 0 then
    return redis.error_reply('ERR expected a lease of canfetch, got another value; delete the key')
  end
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/** Releases a lease. KEYS[1] the lease; ARGV[1] the holder it must have. */
export const releaseLease: RedisScript = redisScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/**
 * Writes a value, unless the stored one is of a later response. A time in the future is that of a wrong clock.
 * KEYS[1] the value; ARGV[1] the new value, ARGV[2] the time of its response in ms, ARGV[3] its lifetime in ms, ARGV[4] how
 * far clocks may differ in ms.
 */
export const setLater: RedisScript = redisScript(`
local head = redis.pcall('GETRANGE', KEYS[1], 0, 16)
local stored = type(head) == 'string' and tonumber(string.match(head, '^r(%d+)$'))
if stored and stored > tonumber(ARGV[2]) then
  local time = redis.call('TIME')
  if stored <= time[1] * 1000 + ARGV[4] then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
`);

/**
 * Reads a schedule: the end of the last slot, the end of the pause, when both were written, and the delay of that slot,
 * in microseconds of the server's clock, because clients' clocks may differ; then the cause of the pause, and whatever a
 * later version adds. When that clock was set back, waits go on from where they were.
 */
const READ_SCHEDULE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stored = redis.call('GET', KEYS[1]) or ''
local slot, paused, written, delay, cause = string.match(stored, '^(%d+) (%d+) (%d+) (%d+) ?(%S*)')
slot, paused = tonumber(slot) or 0, tonumber(paused) or 0
written, delay = tonumber(written) or now, tonumber(delay) or 0
local setback = math.max(0, written - now)
slot, paused = math.max(0, slot - setback), math.max(0, paused - setback)
`;

const WRITE_SCHEDULE = `
local ttl = math.ceil((math.max(now, slot, paused) - now + math.max(delay, ARGV[2])) / 1000)
local text = string.format('%.0f %.0f %.0f %.0f %s', slot, paused, now, delay, cause or '')
redis.call('SET', KEYS[1], text, 'PX', string.format('%.0f', ttl))
`;

/**
 * Books a slot. KEYS[1] the schedule; ARGV[1] the delay of the slot, ARGV[2] the least time to keep the key after it,
 * ARGV[3] and ARGV[4] the shortest and the longest wait, all in microseconds; ARGV[5] the time after which nobody waits for
 * the reply, 0 for none. Returns the time until the slot, which is not booked when that is more than the longest wait,
 * the time until the end of the pause, the server's time, and the cause of the pause.
 */
export const bookSlot: RedisScript = redisScript(`${READ_SCHEDULE}
local at = math.max(now + ARGV[3], paused, slot + math.max(delay, ARGV[1]))
local isLate = ARGV[5] ~= '0' and now > tonumber(ARGV[5])
if at - now <= tonumber(ARGV[4]) and not isLate then
  slot, delay = at, tonumber(ARGV[1])
  ${WRITE_SCHEDULE}
end
return {isLate and -1 or at - now, math.max(0, paused - now), now, cause or ''}
`);

/**
 * Pauses a schedule. KEYS[1] the schedule; ARGV[1] the pause from now on, 0 to read only, ARGV[2] the time to keep the
 * key after it, both in microseconds; ARGV[3] its cause. Returns the time until the end of the pause in force, and its cause.
 */
export const pauseSlots: RedisScript = redisScript(`${READ_SCHEDULE}
if ARGV[1] ~= '0' and now + ARGV[1] > paused then
  paused, cause = now + ARGV[1], ARGV[3]
  ${WRITE_SCHEDULE}
end
return {math.max(0, paused - now), cause or ''}
`);
