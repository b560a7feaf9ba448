#!lua name=millrace_counters
-- The functions of Redis 7.0 that do the same as count-sorted-set, count-hash and count-keys.
-- keys and args as KEYS and ARGV of those scripts; each returns the number of increments. O(increments)
redis.register_function('millrace_count_sorted_set', function(keys, args)
  for i = 1, #args do redis.call('ZINCRBY', keys[1], 1, args[i]) end
  return #args
end)
redis.register_function('millrace_count_hash', function(keys, args)
  for i = 1, #args do redis.call('HINCRBY', keys[1], args[i], 1) end
  return #args
end)
redis.register_function('millrace_count_keys', function(keys)
  for i = 1, #keys do redis.call('INCR', keys[i]) end
  return #keys
end)
