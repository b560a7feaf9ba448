-- Stores items as fields of a hash, each with a lifetime of its own, where the server has no HSETEX: no field is there
-- without a lifetime, and neither is the hash.
-- KEYS[1] hash, ARGV[1] ttl of the fields in seconds, ARGV[2] lifetime of the hash in seconds,
-- ARGV[3..] field, value, field, value...
-- Returns how many fields were stored. O(N), N fields.
-- unpack pushes onto Lua's stack, which holds 8,000.
local most = 3000
local stored = 0
for first = 3, #ARGV, 2 * most do
  local last = math.min(#ARGV, first + 2 * most - 1)
  local fields = {}
  for i = first, last, 2 do fields[#fields + 1] = ARGV[i] end
  redis.call('HSET', KEYS[1], unpack(ARGV, first, last))
  redis.call('HEXPIRE', KEYS[1], ARGV[1], 'FIELDS', #fields, unpack(fields))
  stored = stored + #fields
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return stored
