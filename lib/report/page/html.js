// HTML templates whose values are escaped.

/** Markup, as opposed to text. */
export class Markup {
  /** @param {string} text */
  constructor(text) {
    this.text = text
  }
  toString() {
    return this.text
  }
}

/** @type {Record<string, string>} */
const entities = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** @param {string} text */
export const escaped = (text) => text.replace(/[&<>"']/g, (sign) => entities[sign])

/** Marks our own text as markup. @param {string} text */
export const markup = (text) => new Markup(text)

/** @param {unknown} hole @returns {string} */
const filling = (hole) => {
  if (hole instanceof Markup) return hole.text
  if (Array.isArray(hole)) return hole.map(filling).join('')
  if (hole === null || hole === undefined || hole === false) return ''
  return escaped(String(hole))
}

/**
 * @param {TemplateStringsArray} strings
 * @param {...unknown} holes texts are escaped, lists are joined; null and false are nothing
 */
export const html = (strings, ...holes) =>
  markup(strings.map((text, at) => text + (at < holes.length ? filling(holes[at]) : '')).join(''))

/** Data inside a script element, which nothing in it can end. @param {unknown} data */
export const scriptData = (data) => markup(JSON.stringify(data).replaceAll('<', '\\u003c'))
