-- Tests whether an id may be in a Bloom filter, and adds nothing.
-- KEYS[1] bitmap; ARGV[1] id, ARGV[2] bits of the filter, ARGV[3] hashes
-- Returns 1 when it is new, 0 when it may be there. O(hashes)
local digest = redis.sha1hex(ARGV[1])
local first, step = tonumber(string.sub(digest, 1, 8), 16), tonumber(string.sub(digest, 9, 16), 16)
for i = 0, ARGV[3] - 1 do
  if redis.call('GETBIT', KEYS[1], (first + i * step) % ARGV[2]) == 0 then return 1 end
end
return 0
