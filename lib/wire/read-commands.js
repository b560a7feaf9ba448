// Commands that only read, by their names.

const reads = new Set(
  (
    'ping info get mget strlen getrange substr getbit bitcount bitpos exists ttl pttl expiretime type object dump scan keys ' +
    'randomkey dbsize hget hmget hgetall hlen hkeys hvals hexists hstrlen hscan hrandfield hpttl httl lrange llen lindex ' +
    'lpos sismember smismember smembers scard sinter sintercard sunion sdiff srandmember sscan zrange zrangebyscore ' +
    'zrangebylex zrevrange zrevrangebyscore zrevrangebylex zscore zmscore zcard zcount zlexcount zrank zrevrank zscan ' +
    'zrandmember zinter zintercard zunion zdiff xrange xrevrange xlen xread xinfo xpending pfcount geosearch geodist ' +
    'geohash geopos eval_ro evalsha_ro fcall_ro sort_ro time'
  ).split(' '),
)
const moduleRead = /^(ft\.(search|aggregate)|json\.m?get|[bc]f\.m?exists|ts\.m?(get|range))$/

/** @param {string} name in lower case */
export const isRead = (name) => reads.has(name) || moduleRead.test(name)
