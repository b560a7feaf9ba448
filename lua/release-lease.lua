-- Gives a lease back while it is still its holder's.
-- KEYS[1] lease, ARGV[1] what the holder's text ends with
-- Returns 1 when it was given back, 0 when another has it or it is gone. O(1).
-- GETRANGE, so that commandstats count GET of items only.
if string.sub(redis.call('GETRANGE', KEYS[1], 0, -1), -#ARGV[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
