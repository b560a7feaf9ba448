-- Heartbeat of a box: stores its intervals and returns the state of the run.
-- KEYS[1] hash of the run, KEYS[2] lease of the leader, KEYS[3] stream, KEYS[4] hash of boxes, KEYS[5] hash of ends,
-- KEYS[6] hash of when each box was heard of last
-- ARGV[1] id of the run's data, ARGV[2] box, ARGV[3] milliseconds that the leader's lease lasts or '' for a box that may
-- not lead, ARGV[4] milliseconds that all keys last, ARGV[5] box as JSON or '', ARGV[6] its end as JSON or '',
-- ARGV[7..] intervals, oldest first; one with readings of the nodes from a box that leads no more is stored as 'late'
-- Returns 'ok', or 'unknown' where the run's data is not there; then the leader, the state ('ending' once all writers have
-- ended), the start, who stopped the run, when all stop, and why it was refused, each '' where there is none. O(N) of the
-- intervals.
if redis.replicate_commands then redis.replicate_commands() end
local known = redis.call('HMGET', KEYS[1], 'data', 'state', 'start', 'stop', 'refused', 'ending', 'stop_at')
if known[1] ~= ARGV[1] then return {'unknown', '', '', '', '', '', ''} end
if known[2] == 'started' and known[6] then known[2] = 'ending' end
if known[2] ~= 'done' then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[6], ARGV[2], string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
  redis.call('PEXPIRE', KEYS[6], ARGV[4])
  if ARGV[5] ~= '' then redis.call('HSET', KEYS[4], ARGV[2], ARGV[5]) end
  local leader = redis.call('GET', KEYS[2])
  for i = 7, #ARGV do
    local isLate = leader and leader ~= ARGV[2] and string.find(ARGV[i], '"sampler":', 1, true)
    redis.call('XADD', KEYS[3], '*', isLate and 'late' or 'd', ARGV[i])
  end
  if #ARGV > 6 then redis.call('PEXPIRE', KEYS[3], ARGV[4]) end
  if ARGV[6] ~= '' then
    redis.call('HSET', KEYS[5], ARGV[2], ARGV[6])
    redis.call('PEXPIRE', KEYS[5], ARGV[4])
  end
end
local leader = redis.call('GET', KEYS[2])
if ARGV[3] ~= '' then
  if not leader then
    redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
    leader = ARGV[2]
  elseif leader == ARGV[2] then
    redis.call('PEXPIRE', KEYS[2], ARGV[3])
  end
end
return {'ok', leader or '', known[2] or '', known[3] or '', known[4] or '', known[7] or '', known[5] or ''}
