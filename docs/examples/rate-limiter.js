// A rate limiter: requests of 1,000 users, counted in a key for each user and minute.
export default ({ family, each, modulo }) => ({
  title: 'requests per user and minute',
  keys: () => ({
    limit: family('limit:{user}:{minute}', 'string', {
      of: { user: modulo('user', 1000) },
      lifetimeS: 120,
      bytes: 100,
    }),
  }),
  operations: (_, { limit }) => ({
    store: [each('INCR', [limit], { repeat: 'never' }), each('EXPIRE', [limit, 120])],
  }),
  repeat: 'safe',
})
