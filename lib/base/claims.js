// Names that may be claimed once: what is registered under them would hide each other.

/**
 * Those that are claimed more than once, a line each that says what to do.
 * @param {string} what
 * @param {readonly (readonly [name: string, by: string])[]} claims
 */
export const claimedTwice = (what, claims) => {
  /** @type {Map<string, string>} */
  const owners = new Map()
  return claims.flatMap(([name, by]) => {
    const owner = owners.get(name)
    owners.set(name, owner ?? by)
    return owner === undefined
      ? []
      : [`the ${what} '${name}' is of '${owner}' and of '${by}': give one of them another name`]
  })
}
