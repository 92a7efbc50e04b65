import { hash } from "node:crypto";

/** A script that Redis runs in one step. */
export interface RedisScript {
  readonly text: string;
  /** SHA-1, by which Redis caches it. */
  readonly sha: string;
}

function script(text: string): RedisScript {
  return { text, sha: hash("sha1", text) };
}

/**
 * Replaces a record if its value is `was`. Keys: the record, the ids of its space. Arguments: the id, `1` or `0` and `was`, `1` or
 * `0` and the value, its expiry or an empty string, the channel. Returns 1 or 0.
 */
export const replaceScript = script(`
local id, hasWas, was, hasValue, value, expires, channel = unpack(ARGV)
local now = redis.call('GET', KEYS[1])
if hasWas == '1' then
  if now ~= was then return 0 end
elseif now then
  return 0
end
if hasValue == '0' then
  redis.call('DEL', KEYS[1])
  redis.call('SREM', KEYS[2], id)
else
  redis.call('SADD', KEYS[2], id)
  redis.call('SET', KEYS[1], value)
  if expires ~= '' then
    redis.call('PEXPIREAT', KEYS[1], expires)
    -- Ids of records that nobody deletes would accumulate.
    for _, other in ipairs(redis.call('SRANDMEMBER', KEYS[2], 3)) do
      if redis.call('EXISTS', KEYS[2] .. ':' .. other) == 0 then redis.call('SREM', KEYS[2], other) end
    end
  end
end
redis.call('PUBLISH', channel, id)
return 1
`);

/**
 * Adds to counters unless one exceeds its limit. Keys: the counters. Arguments: for each counter its period, the amount and the
 * limit or an empty string. Periods are those of Redis' clock, so that gateways with other clocks count the same. Returns `1` and
 * what is used of each; or `0`, the index of the counter that has too little left, and the milliseconds until its next period.
 * A counter whose period lies ahead, because the clock was set back, continues.
 */
export const addScript = script(`
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local lengths = { second = 1000, minute = 60000, hour = 3600000, day = 86400000 }

-- Days since 1970-01-01 of the first day of a month; months are counted from the year 0.
local function firstDay(month)
  local shifted = month - 2
  local year = math.floor(shifted / 12)
  local era = math.floor(year / 400)
  local ofEra = year - era * 400
  local ofYear = math.floor((153 * (shifted - year * 12) + 2) / 5)
  return era * 146097 + ofEra * 365 + math.floor(ofEra / 4) - math.floor(ofEra / 100) + ofYear - 719468
end

local function bounds(period)
  local length = lengths[period]
  if length then
    local start = now - now % length
    return start, start + length
  end
  local days = math.floor(now / 86400000)
  local month = 1970 * 12 + math.floor(days / 30.436875) - 1
  while firstDay(month + 1) <= days do month = month + 1 end
  return firstDay(month) * 86400000, firstDay(month + 1) * 86400000
end

local sums = {}
for index, key in ipairs(KEYS) do
  local period, amount, limit = ARGV[index * 3 - 2], tonumber(ARGV[index * 3 - 1]), tonumber(ARGV[index * 3])
  local start, ends = bounds(period)
  local known = redis.call('HMGET', key, 'start', 'used')
  local before = 0
  if known[1] and tonumber(known[1]) >= start then before = tonumber(known[2]) end
  if limit and (before >= limit or before + amount > limit) then
    return { '0', index - 1, ends - now }
  end
  sums[index] = { start, ends, math.max(0, before + amount) }
end
local result = { '1' }
for index, key in ipairs(KEYS) do
  local start, ends, used = unpack(sums[index])
  local text = string.format('%.17g', used)
  redis.call('HSET', key, 'start', string.format('%d', start), 'used', text)
  redis.call('PEXPIREAT', key, string.format('%d', ends))
  result[index + 1] = text
end
return result
`);
