-- Takes jobs whose time has come.
-- KEYS sorted set of jobs by when they may begin, in microseconds; sorted set of those that were taken, by when
-- ARGV most jobs; 1: kept in the second set until they are confirmed
-- Returns the jobs. O(jobs * log queue)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local due = redis.call('ZRANGE', KEYS[1], '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[1])
if #due > 0 then
  redis.call('ZREM', KEYS[1], unpack(due))
  if ARGV[2] == '1' then
    for _, job in ipairs(due) do redis.call('ZADD', KEYS[2], now, job) end
  end
end
return due
