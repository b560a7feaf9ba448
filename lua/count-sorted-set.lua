-- Adds 1 to members of a sorted set.
-- KEYS[1] sorted set; ARGV members, one for each increment
-- Returns the number of increments. O(increments * log(members))
for i = 1, #ARGV do redis.call('ZINCRBY', KEYS[1], 1, ARGV[i]) end
return #ARGV
