// Words of Redis that are typed where a data model is meant, and the models that hold items so.

/** @type {Readonly<Record<string, string>>} */
export const namesElsewhere = Object.freeze({
  zset: 'sorted-set (or membership-zset, queue-zset)',
  zadd: 'sorted-set (or membership-zset, queue-zset)',
  hset: 'hash (or hash-ttl, membership-hash)',
  hashes: 'hash (or hash-ttl, membership-hash)',
  string: 'actual-value (or lookup-get, lookup-set)',
  strings: 'actual-value (or lookup-get, lookup-set)',
  setex: 'actual-value (or lookup-set)',
  get: 'lookup-get',
  mget: 'lookup-get',
  kv: 'lookup-get or lookup-set',
  lpush: 'list (or queue-list)',
  rpush: 'list (or queue-list)',
  xadd: 'stream (or queue-stream)',
  sadd: 'set (or membership-set)',
  incr: 'counter-loop',
  pfadd: 'list-hll',
  bitmap: 'membership-bitmap',
  bloom: 'membership-bloom',
  lua: 'script-item or script-batch',
})
