// Light and dark: what the reader's system says, until the button of the page says otherwise.
import { elementById } from './element.js'

const root = document.documentElement
const prefersDark = matchMedia('(prefers-color-scheme: dark)')

export const theme = () =>
  /** @type {'light' | 'dark'} */ (root.dataset.theme ?? (prefersDark.matches ? 'dark' : 'light'))

/** @param {(() => void)[]} redraws */
export const themed = (redraws) => {
  const button = elementById('theme')
  const show = () => {
    button.textContent = theme() === 'dark' ? 'Light' : 'Dark'
    for (const redraw of redraws) redraw()
  }
  button.addEventListener('click', () => {
    root.dataset.theme = theme() === 'dark' ? 'light' : 'dark'
    show()
  })
  prefersDark.addEventListener('change', show)
  // Paper is light, and nothing can be unfolded there.
  let before = root.dataset.theme
  /** @type {HTMLDetailsElement[]} */
  let folded = []
  addEventListener('beforeprint', () => {
    before = root.dataset.theme
    root.dataset.theme = 'light'
    folded = [...document.querySelectorAll('details')].filter(({ open }) => !open)
    for (const fold of folded) fold.open = true
    show()
  })
  addEventListener('afterprint', () => {
    if (before) root.dataset.theme = before
    else delete root.dataset.theme
    for (const fold of folded) fold.open = false
    show()
  })
  show()
}
