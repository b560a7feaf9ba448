-- Notes that a worker is alive.
-- KEYS sorted set of workers by their last sign of life, in milliseconds
-- ARGV its name
-- Returns the number of workers that were added. O(log workers)
local now = redis.call('TIME')
return redis.call('ZADD', KEYS[1], now[1] * 1000 + math.floor(now[2] / 1000), ARGV[1])
