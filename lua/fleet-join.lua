-- Joins a run of a fleet, which the first box begins; of a control server that lost its data, the same run again.
-- KEYS[1] hash of the run, KEYS[2] hash of its boxes
-- ARGV[1] id of the run's data, ARGV[2] digest of the plan, ARGV[3] plan as JSON, ARGV[4] writers, ARGV[5] box,
-- ARGV[6] box as JSON, ARGV[7] start in epoch milliseconds or '', ARGV[8] milliseconds that all keys last
-- Returns 'ok', 'done' or 'other'; then the id of the run's data, the plan, the start or '', and when it was begun. O(1).
if redis.replicate_commands then redis.replicate_commands() end
local known = redis.call('HMGET', KEYS[1], 'data', 'digest', 'plan', 'start', 'state', 'begun')
if known[5] == 'done' then return {'done', known[1], known[3], known[4] or '', known[6]} end
if known[1] and known[2] ~= ARGV[2] then return {'other', known[1], known[3], known[4] or '', known[6]} end
if not known[1] then
  local time = redis.call('TIME')
  local begun = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
  redis.call('HSET', KEYS[1], 'data', ARGV[1], 'digest', ARGV[2], 'plan', ARGV[3], 'writers', ARGV[4], 'state', 'joining',
    'begun', begun)
  if ARGV[7] ~= '' then redis.call('HSET', KEYS[1], 'start', ARGV[7], 'state', 'started') end
  known = {ARGV[1], ARGV[2], ARGV[3], ARGV[7], false, begun}
end
redis.call('HSET', KEYS[2], ARGV[5], ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[8])
redis.call('PEXPIRE', KEYS[2], ARGV[8])
return {'ok', known[1], known[3], known[4] or '', known[6]}
