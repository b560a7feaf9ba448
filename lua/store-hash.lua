-- Stores one item in a hash of its own that expires: at no moment it is there without a lifetime.
-- KEYS[1] hash, ARGV[1] ttl in seconds, ARGV[2] value
-- Returns 1. O(1).
redis.call('HSET', KEYS[1], 'value', ARGV[2])
return redis.call('EXPIRE', KEYS[1], ARGV[1])
