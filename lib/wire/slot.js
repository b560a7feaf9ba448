// Hash slots of a cluster.
import slotOfKey from 'cluster-key-slot'

export const slotCount = 16384

/** @param {string} key */
export const slotOf = (key) => slotOfKey(key)

/**
 * The shortest decimal text that hashes into `slot`: the same for every box at every time.
 * @param {number} slot
 */
export const tagOf = (slot) => {
  for (let n = 0; ; n++) if (slotOfKey(String(n)) === slot) return String(n)
}
