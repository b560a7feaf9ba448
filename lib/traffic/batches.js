// Several different keys in one request: what is drawn twice is asked for once.

/** @param {number[]} keys that are added to @param {number} first @param {number} draws with the first @param {() => number} draw */
export const addDistinct = (keys, first, draws, draw) => {
  keys.push(first)
  for (let i = 1; i < draws; i++) {
    const n = draw()
    if (!keys.includes(n)) keys.push(n)
  }
}
