// A picture as a file of this repository: it changes with its own data alone.
import { svgOf } from '../../lib/report/draw.js'

/** ECharts numbers classes and clips through all pictures: here from 0 in each. @param {string} svg */
export const withOwnNames = (svg) => {
  /** @type {Map<string, string>} */
  const names = new Map()
  return svg.replace(/\bzr\d+-([a-z]+)-?\d*/g, (name, kind) => {
    const own = names.get(name) ?? `${kind}${names.size}`
    names.set(name, own)
    return own
  })
}

/** @param {Parameters<typeof svgOf>} picture */
export const pictureFile = (...picture) => `${withOwnNames(svgOf(...picture))}\n`
