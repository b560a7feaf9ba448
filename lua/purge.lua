-- Takes the oldest dead members out of a sorted set, so many at most: no other client waits longer for it.
-- KEYS[1] sorted set, ARGV[1] scores below are dead, as ZCOUNT takes it: '(1700000000000', ARGV[2] members at most
-- Returns how many it took out. O(log N + M), N members of the sorted set, M that it takes out.
local dead = redis.call('ZCOUNT', KEYS[1], '-inf', ARGV[1])
if dead == 0 then return 0 end
return redis.call('ZREMRANGEBYRANK', KEYS[1], 0, math.min(dead, tonumber(ARGV[2])) - 1)
