-- Looks at a page of all keys: of each a line with type, encoding, milliseconds left, bytes of memory, bytes or elements, and the length
-- of its name, which follows.
-- ARGV[1] cursor, ARGV[2] keys of a page, about
-- Returns the next cursor, and the lines with the names. O(N) in the elements of its keys: MEMORY USAGE counts all of them.
local sizes = { string = 'STRLEN', list = 'LLEN', set = 'SCARD', zset = 'ZCARD', hash = 'HLEN', stream = 'XLEN' }
local types = { embstr = 'string', raw = 'string', int = 'string', quicklist = 'list', intset = 'set', skiplist = 'zset', stream = 'stream' }
local page = redis.call('SCAN', ARGV[1], 'COUNT', ARGV[2])
local out = {}
for _, name in ipairs(page[2]) do
  local encoding = redis.call('OBJECT', 'ENCODING', name)
  if encoding then
    local kind = types[encoding] or redis.call('TYPE', name)['ok']
    local size = sizes[kind] and redis.call(sizes[kind], name) or -1
    local memory = redis.call('MEMORY', 'USAGE', name, 'SAMPLES', 0) or 0
    out[#out + 1] = string.format('%s %s %.0f %.0f %.0f %d\n', kind, encoding, redis.call('PTTL', name), memory, size, #name)
    out[#out + 1] = name
  end
end
return { page[1], table.concat(out) }
