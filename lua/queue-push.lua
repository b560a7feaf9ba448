-- Puts a job into a queue that has room.
-- KEYS queue
-- ARGV most jobs; command that counts them; command that puts one, and its arguments behind the key
-- Returns what that command returns, or the error FULL. O(1), or O(log queue) for a sorted set
if redis.call(ARGV[2], KEYS[1]) >= tonumber(ARGV[1]) then
  return redis.error_reply('FULL the queue has no room for another job')
end
return redis.call(ARGV[3], KEYS[1], unpack(ARGV, 4))
