// Elements of a page: built of text, never of markup.

/** @param {string} tag @param {Record<string, unknown>} [given] @param {...(Node | string)} children */
export const element = (tag, given = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), given)
  made.append(...children)
  return made
}

/** @param {string} id */
export const elementById = (id) => /** @type {HTMLElement} */ (document.getElementById(id))
