// Memory by pattern as a picture: what patterns have in common is one bar above them, and a bar is as wide as its memory. An SVG.
import { bytes, percent, plainText } from '../base/units.js'

/**
 * @typedef {{ pieces: readonly string[], weight: number }} Part
 * @typedef {{ name: string, weight: number, parts: Map<string, Branch> }} Branch
 */

const width = 1200
const row = 22
const head = 46
const narrowest = 0.7
const letter = 7
const separator = /^[:/|.,;#@!&?=_<>()[\]{}\- ]+$/

/** Pieces as names that end with what separates them from the next. @param {readonly string[]} pieces */
const namesIn = (pieces) => {
  const names = /** @type {string[]} */ ([])
  for (const piece of pieces)
    if (separator.test(piece) && names.length > 0) names[names.length - 1] += piece
    else names.push(piece)
  return names
}

/** @param {readonly Part[]} parts */
const treeOf = (parts) => {
  /** @type {Branch} */
  const root = { name: 'all keys', weight: 0, parts: new Map() }
  for (const { pieces, weight } of parts) {
    let at = root
    at.weight += weight
    for (const name of namesIn(pieces)) {
      const next = at.parts.get(name) ?? { name, weight: 0, parts: new Map() }
      at.parts.set(name, next)
      next.weight += weight
      at = next
    }
  }
  return root
}

const escaped = (/** @type {string} */ text) =>
  plainText(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)

/** A warm colour that follows from the name. @param {string} name */
const colourOf = (name) => {
  let sum = 7
  for (let i = 0; i < name.length; i++) sum = (sum * 31 + name.charCodeAt(i)) % 9973
  return `hsl(${20 + (sum % 35)} 85% ${62 + (sum % 17)}%)`
}

/** @param {readonly Part[]} parts @param {string} title */
export const flameSvg = (parts, title) => {
  const root = treeOf(parts)
  const bars = /** @type {string[]} */ ([])
  let deepest = 0
  /** @param {Branch} branch @param {number} x @param {number} depth @param {string} before */
  const draw = (branch, x, depth, before) => {
    const wide = root.weight === 0 ? 0 : (branch.weight / root.weight) * width
    if (wide < narrowest) return
    deepest = Math.max(deepest, depth)
    const whole = depth === 0 ? branch.name : before + branch.name
    const y = head + depth * row
    const about = `${whole}: ${bytes(branch.weight)}, ${percent((100 * branch.weight) / root.weight)}`
    const most = Math.floor((wide - 8) / letter)
    const shown = branch.name.length <= most ? branch.name : `${branch.name.slice(0, most - 1)}…`
    bars.push(
      `<g><title>${escaped(about)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0.5, wide - 0.6).toFixed(1)}" height="${row - 1}" rx="2" fill="${depth === 0 ? '#c9d0d6' : colourOf(branch.name)}"/>${
        most >= 3 ? `<text x="${(x + 4).toFixed(1)}" y="${y + 15}">${escaped(shown)}</text>` : ''
      }</g>`,
    )
    let from = x
    for (const part of [...branch.parts.values()].sort((a, b) => b.weight - a.weight)) {
      draw(part, from, depth + 1, depth === 0 ? '' : whole)
      from += (part.weight / root.weight) * width
    }
  }
  draw(root, 0, 0, '')
  const height = head + (deepest + 1) * row + 8
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" role="img">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
<g fill="#1c2126"><text x="4" y="20" font-size="15">${escaped(title)}</text><text x="4" y="38" fill="#5b6570">A bar is as wide as the memory of its keys; point at it for the number.</text>
${bars.join('\n')}
</g>
</svg>
`
}
