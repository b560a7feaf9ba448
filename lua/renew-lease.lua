-- Renews a lease while it is still its holder's.
-- KEYS[1] lease, ARGV[1] what the holder wrote, ARGV[2] milliseconds
-- Returns 1 when it was renewed, 0 when it is somebody else's or gone. O(1).
-- GETRANGE: what commandstats tells of GET is then about items alone.
if redis.call('GETRANGE', KEYS[1], 0, -1) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
