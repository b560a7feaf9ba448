-- Adds an id to a Bloom filter.
-- KEYS[1] bitmap; ARGV[1] id, ARGV[2] bits of the filter, ARGV[3] hashes
-- Returns 1 when the id was new, 0 when it may have been there. O(hashes)
local digest = redis.sha1hex(ARGV[1])
local first, step = tonumber(string.sub(digest, 1, 8), 16), tonumber(string.sub(digest, 9, 16), 16)
local new = 0
for i = 0, ARGV[3] - 1 do
  if redis.call('SETBIT', KEYS[1], (first + i * step) % ARGV[2], 1) == 0 then new = 1 end
end
return new
