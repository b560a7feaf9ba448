// The client of several processes or boxes as one: CPU and memory add up, delays are the longest, and busy is the busiest
// thread, with its own CPU.

/** @param {readonly Record<string, any>[]} clients of run.json @returns {Record<string, number | null>} null: none has it */
export const sumOfClients = (clients) => {
  const fold = (/** @type {string} */ name, /** @type {(a: number, b: number) => number} */ add) => {
    const known = clients.map((client) => client[name]).filter((n) => typeof n === 'number')
    return known.length > 0 ? known.reduce(add) : null
  }
  const total = (/** @type {string} */ name) => fold(name, (a, b) => a + b)
  const most = (/** @type {string} */ name) => fold(name, (a, b) => Math.max(a, b))
  const ifKnown = (/** @type {string} */ name, /** @type {typeof total} */ add) =>
    add(name) === null ? {} : { [name]: add(name) }
  const busiest = clients.toSorted((a, b) => (b.busy_pct ?? 0) - (a.busy_pct ?? 0))[0]
  return {
    cpu_s: total('cpu_s'),
    cpu_pct: total('cpu_pct'),
    rss_mb_max: total('rss_mb_max'),
    loop_delay_ms_p99: most('loop_delay_ms_p99'),
    busy_pct: busiest?.busy_pct ?? null,
    thread_cpu_pct: busiest?.thread_cpu_pct ?? null,
    stopped_ms: most('stopped_ms'),
    // Writers have these besides.
    ...ifKnown('encode_ms', most),
    ...ifKnown('tape_bytes', total),
    ...ifKnown('waiting_bytes_max', most),
  }
}
