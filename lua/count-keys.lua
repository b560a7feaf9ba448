-- Adds 1 to keys.
-- KEYS counters, one for each increment
-- Returns the number of increments. O(increments)
for i = 1, #KEYS do redis.call('INCR', KEYS[i]) end
return #KEYS
