-- Renews a lease while it is still its holder's.
-- KEYS[1] lease, ARGV[1] what the holder's text ends with, ARGV[2] milliseconds, ARGV[3] a text in its place, or none
-- Returns 1 when it was renewed, 0 when another has it or it is gone. O(1).
-- GETRANGE, so that commandstats count GET of items only.
if string.sub(redis.call('GETRANGE', KEYS[1], 0, -1), -#ARGV[1]) ~= ARGV[1] then return 0 end
if ARGV[3] then
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])
  return 1
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
