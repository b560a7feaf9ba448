// Colours as a deuteranope sees them, and how far apart two of them are: Viénot, Brettel and Mollon (1999) and CIEDE2000.

/** @typedef {[number, number, number]} Triple */

/** @param {number} c of 0 to 1 @returns {number} */
const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)

/** @param {string} hex '#0072b2' @returns {Triple} red, green and blue as amounts of light */
const lightOf = (hex) =>
  /** @type {Triple} */ ([1, 3, 5].map((at) => linear(Number.parseInt(hex.slice(at, at + 2), 16) / 255)))

/** @param {number[][]} matrix @param {Triple} triple */
const times = (matrix, [x, y, z]) =>
  /** @type {Triple} */ (matrix.map(([a, b, c]) => Math.min(1, Math.max(0, a * x + b * y + c * z))))

/** Red and green become one: the share of red in it, and what of their difference comes to blue. */
const mixedOf = (/** @type {number} */ red, /** @type {number} */ blue) => {
  const mixed = [red, 1 - red, 0]
  return [mixed, mixed, [blue, -blue, 1]]
}
const views = {
  normal: Array.from({ length: 3 }, (_, at) => [0, 0, 0].with(at, 1)),
  deuteranopia: mixedOf(0.29275, -0.02234),
  protanopia: mixedOf(0.11238, 0.00401),
}

/** @param {Triple} light @returns {Triple} CIELAB, D65 */
const lab = ([r, g, b]) => {
  const f = (/** @type {number} */ t) => (t > 216 / 24_389 ? Math.cbrt(t) : ((24_389 / 27) * t + 16) / 116)
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047)
  const y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b)
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883)
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

/** @param {string} hex @param {keyof typeof views} view @returns {Triple} CIELAB */
export const seenAs = (hex, view) => lab(times(views[view], lightOf(hex)))

/** As WCAG has it: 1 to 21. @param {string} a @param {string} b */
export const contrast = (a, b) => {
  const luminance = (/** @type {string} */ hex) => {
    const [r, g, bl] = lightOf(hex)
    return 0.2126 * r + 0.7152 * g + 0.0722 * bl
  }
  const [low, high] = [luminance(a), luminance(b)].sort((p, q) => p - q)
  return (high + 0.05) / (low + 0.05)
}

const radians = Math.PI / 180
const cos = (/** @type {number} */ degrees) => Math.cos(degrees * radians)
/** @param {number} a @param {number} b */
const hue = (a, b) => (a === 0 && b === 0 ? 0 : (Math.atan2(b, a) / radians + 360) % 360)
const seventh = (/** @type {number} */ chroma) => Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7))

/** CIEDE2000 of two colours in CIELAB. @param {Triple} one @param {Triple} other */
export const distance = ([l1, a1, b1], [l2, a2, b2]) => {
  const g = 0.5 * (1 - seventh((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2))
  const [p1, p2] = [a1 * (1 + g), a2 * (1 + g)]
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)]
  const [h1, h2] = [hue(p1, b1), hue(p2, b2)]
  const grey = c1 * c2 === 0
  const turn = h2 - h1 > 180 ? -360 : h2 - h1 < -180 ? 360 : 0
  const dh = grey ? 0 : h2 - h1 + turn
  const far = Math.abs(h1 - h2) > 180
  const mean = grey ? h1 + h2 : (h1 + h2 + (far ? (h1 + h2 < 360 ? 360 : -360) : 0)) / 2
  const l = (l1 + l2) / 2
  const c = (c1 + c2) / 2
  const t =
    1 - 0.17 * cos(mean - 30) + 0.24 * cos(2 * mean) + 0.32 * cos(3 * mean + 6) - 0.2 * cos(4 * mean - 63)
  const dL = (l2 - l1) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2))
  const dC = (c2 - c1) / (1 + 0.045 * c)
  const dH = (2 * Math.sqrt(c1 * c2) * Math.sin((dh / 2) * radians)) / (1 + 0.015 * c * t)
  const rotation = -Math.sin(60 * Math.exp(-(((mean - 275) / 25) ** 2)) * radians) * 2 * seventh(c)
  return Math.sqrt(dL ** 2 + dC ** 2 + dH ** 2 + rotation * dC * dH)
}
