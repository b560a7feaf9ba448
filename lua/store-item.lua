-- Stores one item and ranks it.
-- KEYS[1] sorted set, KEYS[2] item key (absent: the item key is ARGV[4])
-- ARGV[1] ttl in seconds, ARGV[2] score, ARGV[3] value, ARGV[4] item key when it is not in KEYS
-- Returns 1. O(log N), N members of the sorted set.
local item = KEYS[2] or ARGV[4]
redis.call('SETEX', item, ARGV[1], ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[2], item)
return 1
