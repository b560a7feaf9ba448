-- Puts back the jobs of workers that are silent, in front of the queue.
-- KEYS queue, sorted set of workers by their last sign of life, the list of the worker that asks
-- ARGV its name, milliseconds of silence
-- Returns how many jobs were put back. O(silent workers + jobs)
local now = redis.call('TIME')
local limit = now[1] * 1000 + math.floor(now[2] / 1000) - ARGV[2]
local head = string.sub(KEYS[3], 1, -#ARGV[1] - 1)
local moved = 0
for _, name in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', limit, 'BYSCORE')) do
  if name ~= ARGV[1] then
    while redis.call('LMOVE', head .. name, KEYS[1], 'LEFT', 'RIGHT') do moved = moved + 1 end
    redis.call('ZREM', KEYS[2], name)
  end
end
return moved
