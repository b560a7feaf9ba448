-- Renews the lifetime of a key; makes the key first, with its lifetime, where it is not there.
-- KEYS[1] key, ARGV[1] seconds, ARGV[2..] the command that makes it, without the key: its name, then its arguments
-- Returns 1 when the key was there, else 0. O(1), and what the command takes.
if redis.call('EXPIRE', KEYS[1], ARGV[1]) == 1 then return 1 end
redis.call(ARGV[2], KEYS[1], unpack(ARGV, 3))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 0
