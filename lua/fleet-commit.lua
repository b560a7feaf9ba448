-- Commits the seconds that the leader has folded and trims the stream up to there, or changes nothing.
-- KEYS[1] hash of the run, KEYS[2] lease of the leader, KEYS[3] stream, KEYS[4] checkpoint, KEYS[5] list of seconds
-- ARGV[1] id of the run's data, ARGV[2] box, ARGV[3] name of the commit before, ARGV[4] name of this one, ARGV[5]
-- checkpoint, ARGV[6] milliseconds that all keys last, ARGV[7] the first entry id that is not folded, ARGV[8..] seconds
-- that are complete
-- Returns 1; 0 where it is not built on the last commit, another box leads or the run's data is not there. O(N) of what
-- is trimmed.
local known = redis.call('HMGET', KEYS[1], 'data', 'folded')
if known[1] ~= ARGV[1] or redis.call('GET', KEYS[2]) ~= ARGV[2] then return 0 end
if (known[2] or '') ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[4], ARGV[5], 'PX', ARGV[6])
redis.call('HSET', KEYS[1], 'folded', ARGV[4])
for i = 8, #ARGV do redis.call('RPUSH', KEYS[5], ARGV[i]) end
if #ARGV > 7 then redis.call('PEXPIRE', KEYS[5], ARGV[6]) end
redis.call('XTRIM', KEYS[3], 'MINID', ARGV[7])
return 1
