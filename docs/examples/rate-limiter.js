// A rate limiter: requests of 1,000 users, counted in a key for each user and minute.

/** @param {import('../../lib/workloads/own/from-js.js').ModelWords} words */
export default ({ family, each, modulo }) => ({
  title: 'requests of a user, counted a minute',
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
