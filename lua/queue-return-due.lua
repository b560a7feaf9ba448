-- Puts back jobs that were taken long ago and never confirmed: they may begin at once.
-- KEYS sorted set of jobs that were taken, by when, in microseconds; the queue
-- ARGV milliseconds
-- Returns how many jobs were put back. O(jobs * log queue)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local old = redis.call('ZRANGE', KEYS[1], '-inf', now - ARGV[1] * 1000, 'BYSCORE', 'LIMIT', 0, 1000)
for _, job in ipairs(old) do
  redis.call('ZADD', KEYS[2], now, job)
  redis.call('ZREM', KEYS[1], job)
end
return #old
