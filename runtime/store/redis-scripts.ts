import { hash } from "node:crypto";
import { SHARE_DIVISOR } from "./buckets.ts";

/** A script that Redis runs in one step. */
export interface RedisScript {
  readonly text: string;
  /** SHA-1, by which Redis caches it. */
  readonly sha: string;
}

function script(text: string): RedisScript {
  return { text, sha: hash("sha1", text) };
}

/** Sets `now` to milliseconds since 1970 by the clock of the server. */
const CLOCK = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`;

/** Functions about months, which are counted from the year 0. */
const CALENDAR = `
-- Days since 1970-01-01 of the first day of a month.
local function firstDay(month)
  local shifted = month - 2
  local year = math.floor(shifted / 12)
  local era = math.floor(year / 400)
  local ofEra = year - era * 400
  local ofYear = math.floor((153 * (shifted - year * 12) + 2) / 5)
  return era * 146097 + ofEra * 365 + math.floor(ofEra / 4) - math.floor(ofEra / 100) + ofYear - 719468
end

local function monthAt(time)
  local days = math.floor(time / 86400000)
  local month = 1970 * 12 + math.floor(days / 30.436875) - 1
  while firstDay(month + 1) <= days do month = month + 1 end
  return month
end
`;

/**
 * Replaces a record if its value is `was`. Keys: the record, the ids of its space. Arguments: the id, `1` or `0` and `was`, `1` or
 * `0` and the value, milliseconds until it expires or an empty string, the channel. Returns 1 or 0.
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
    redis.call('PEXPIRE', KEYS[1], expires)
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
${CLOCK}
local lengths = { second = 1000, minute = 60000, hour = 3600000, day = 86400000 }

${CALENDAR}
local function bounds(period)
  local length = lengths[period]
  if length then
    local start = now - now % length
    return start, start + length
  end
  local month = monthAt(now)
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

/**
 * Reports what an account took from a bucket, and takes more. Key: the bucket. Arguments: those of AccountReport in the order
 * below. Returns the members of BucketState.
 *
 * The bucket is a hash: `start` of its window; what each account took in it; `gone`, which closed accounts took or earlier windows
 * left; and `used`, the sum. A report is counted as the difference to the last one, so that the sum is exact whatever is lost on the
 * way. If the server lost its last writes, or all, accounts report again, and nothing is granted until they have (`recovery`):
 * otherwise the first one would be granted what others took. `floor` is the most that one of them knew of, which includes accounts
 * that do not report any more. `server` tells a restart or a failover, after which every account may have lost writes.
 */
export const takeScript = script(
  `
${CLOCK}
${CALENDAR}
local key = KEYS[1]
local capacity, refill, window, isWhole = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4] == '1'
local account, from, taken, known = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local usedThen, goneThen, accountsThen = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local amount, share, isClosing = tonumber(ARGV[12]), tonumber(ARGV[13]), ARGV[14] == '1'
local server, channel, bucket = ARGV[15], ARGV[16], ARGV[17]
local length = window == 'day' and 86400000 or tonumber(window)

local function after(start, count)
  if length then return start + count * length end
  return firstDay(monthAt(start) + count) * 86400000
end
local function first()
  if window == 'day' then return now - now % length end
  if window == 'month' then return firstDay(monthAt(now)) * 86400000 end
  -- A bucket that was lost continues the window that replicas know.
  if from > 0 and from <= now and after(from, 1) > now then return from end
  return now
end
local function passed(start)
  if now < start then return 0 end
  if length then return math.floor((now - start) / length) end
  return monthAt(now) - monthAt(start)
end
local function text(value) return string.format('%.17g', value) end

local stored = redis.call('HMGET', key, 'start', 'used', 'gone', 'floor', 'recovery', 'server', account)
local start, used, gone, floor = tonumber(stored[1]), tonumber(stored[2]), tonumber(stored[3]), tonumber(stored[4])
local recovery, serverThen, before = stored[5] or '', stored[6] or '', tonumber(stored[7])
local isNew = not start
if start then
  local count = passed(start)
  if count > 0 then
    start = after(start, count)
    used = math.max(0, used - count * refill)
    gone, floor, recovery, serverThen, before = used, 0, '', '', nil
    redis.call('DEL', key)
  end
else
  start, used, gone, floor = first(), 0, 0, 0
end
local isLost = false
if from ~= start then
  taken = math.max(0, taken - known)
else
  isLost = isNew or (before or 0) < known
  if isLost then floor = math.max(floor, usedThen) end
  if goneThen > gone then
    used = used + goneThen - gone
    gone = goneThen
  end
end
used = math.max(0, used + taken - (before or 0))
local accounts = math.max(0, redis.call('HLEN', key) - FIXED_FIELDS)
if not before then accounts = accounts + 1 end

-- An account that reports late, after a recovery without it, does not begin another one.
local isLate = recovery == 'done' and not before
if server == '' then server = serverThen end
if (isLost and not isLate and (recovery == '' or recovery == 'done')) or (serverThen ~= '' and serverThen ~= server) then
  recovery = text(now) .. ' 0 '
  -- Without the permission for the channel, replicas report when they ask again.
  redis.pcall('PUBLISH', channel, bucket)
end
local isRecovering = recovery ~= '' and recovery ~= 'done'
if isRecovering then
  local since, expected, heard = string.match(recovery, '^(%d+) (%d+) (.*)$')
  since, expected = tonumber(since), math.max(tonumber(expected), accountsThen)
  if not string.find(heard, account, 1, true) then heard = heard .. account .. ',' end
  local _, reported = string.gsub(heard, ',', '')
  local haveAll = reported >= math.max(expected, accounts) and now - since >= MIN_RECOVERY
  isRecovering = not haveAll and now - since < MAX_RECOVERY
  recovery = isRecovering and text(since) .. ' ' .. expected .. ' ' .. heard or 'done'
end

local left = capacity - math.max(used, floor)
local granted = 0
if left > 0 and not isRecovering and (amount > 0 or share > 0) then
  local fair = left * share / (SHARE_DIVISOR * accounts)
  if isWhole then fair = math.floor(fair) end
  granted = math.min(left, math.max(amount, fair))
  used = used + granted
  if floor > 0 then floor = floor + granted end
end
if isClosing then
  gone = gone + taken + granted
  redis.call('HDEL', key, account)
else
  redis.call('HSET', key, account, text(taken + granted))
end
local fields = { 'start', text(start), 'used', text(used), 'gone', text(gone), 'floor', text(floor) }
redis.call('HSET', key, 'recovery', recovery, 'server', server, unpack(fields))
-- A debt of more than ten years is forgiven.
local ends = math.min(after(start, math.max(1, math.ceil(used / refill))), now + 315360000000)
redis.call('PEXPIREAT', key, string.format('%d', ends))
local remaining = capacity - math.max(used, floor)
local more = { text(gone), tostring(accounts), isRecovering and '1' or '0' }
return { text(granted), text(remaining), text(start), text(after(start, 1) - now), text(taken + granted), unpack(more) }
`
    .replace("SHARE_DIVISOR", String(SHARE_DIVISOR))
    .replace("FIXED_FIELDS", "6")
    .replace("MIN_RECOVERY", "250")
    .replace("MAX_RECOVERY", "2000"),
);

/**
 * Adds usage unless the batch was added. Keys: the number of the writer's last batch, then a day, and its month. Arguments: the number
 * of the batch, the expiry of each key, and for each row its caller, its detail and five amounts. Returns 1, or 0 if the batch was added
 * before.
 */
export const usageScript = script(`
local sequence = tonumber(ARGV[1])
if tonumber(redis.call('GET', KEYS[1]) or '0') >= sequence then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[2])
local function add(key, row, at)
  local known = redis.call('HGET', key, row)
  local sums = {}
  for amount in string.gmatch(known or '0 0 0 0 0', '%d+') do
    sums[#sums + 1] = string.format('%.0f', tonumber(amount) + tonumber(ARGV[at + #sums]))
  end
  redis.call('HSET', key, row, table.concat(sums, ' '))
end
for at = 5, #ARGV, 7 do
  local row = ARGV[at] .. '\\n' .. ARGV[at + 1]
  add(KEYS[2], row, at + 2)
  add(KEYS[3], row, at + 2)
end
redis.call('PEXPIREAT', KEYS[2], ARGV[3])
redis.call('PEXPIREAT', KEYS[3], ARGV[4])
return 1
`);

/**
 * Adds or replaces a response; those that expire first make room. Keys: the response, the ids of its pool by the time when they
 * expire, their sizes with the sum under an empty name. Arguments: the id, the response, its size, milliseconds until it expires,
 * and the maximum size of the pool. Keys of other responses are on the same node, because the pool is in braces.
 */
export const writeResponseScript = script(`
${CLOCK}
local id, bytes, size, ttl, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local base = string.sub(KEYS[1], 1, #KEYS[1] - #id)
local function drop(each)
  local known = redis.call('HGET', KEYS[3], each)
  if known then redis.call('HINCRBY', KEYS[3], '', -tonumber(known)) end
  redis.call('HDEL', KEYS[3], each)
  redis.call('ZREM', KEYS[2], each)
end
for _, each in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 100)) do drop(each) end
drop(id)
redis.call('SET', KEYS[1], bytes, 'PX', ttl)
redis.call('ZADD', KEYS[2], now + ttl, id)
redis.call('HSET', KEYS[3], id, size)
local sum = redis.call('HINCRBY', KEYS[3], '', size)
while sum > most do
  local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if not first then break end
  redis.call('DEL', base .. first)
  drop(first)
  sum = tonumber(redis.call('HGET', KEYS[3], '') or '0')
end
for at = 2, 3 do redis.call('PEXPIRE', KEYS[at], ttl + 1000) end
return 1
`);

/**
 * Adds a vector to the list of a pool. Key: the vectors by number. Arguments: the vector, milliseconds until an unused list expires,
 * and the maximum number of vectors. Numbers are microseconds by the server's clock, so that they continue after the list was lost:
 * replicas ask for what is newer than the last one that they know.
 */
export const addVectorScript = script(`
local vector, ttl, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local number = tonumber(time[1]) * 1000000 + tonumber(time[2])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
if last and tonumber(last) >= number then number = tonumber(last) + 1 end
redis.call('ZADD', KEYS[1], string.format('%.0f', number), vector)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -most - 1)
redis.call('PEXPIRE', KEYS[1], ttl)
return 1
`);
