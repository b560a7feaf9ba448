-- Adds 1 to fields of a hash.
-- KEYS[1] hash; ARGV fields, one for each increment
-- Returns the number of increments. O(increments)
for i = 1, #ARGV do redis.call('HINCRBY', KEYS[1], ARGV[i], 1) end
return #ARGV
