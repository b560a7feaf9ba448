// What tests ask of Markdown: its links, the anchors of its headings, and the command lines in its code.

/** The lines, without those of fenced blocks. @param {string} page */
const proseLines = (page) => page.replaceAll(/^```[\s\S]*?^```$/gm, '').split('\n')

/** Anchors as GitHub makes them of headings. @param {string} page @returns {Set<string>} */
export const anchorsOf = (page) => {
  const seen = /** @type {Map<string, number>} */ (new Map())
  return new Set(
    proseLines(page).flatMap((line) => {
      const heading = /^#{1,6} (.+)$/.exec(line)?.[1]
      if (heading === undefined) return []
      const slug = heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-')
      const times = seen.get(slug) ?? 0
      seen.set(slug, times + 1)
      return [times === 0 ? slug : `${slug}-${times}`]
    }),
  )
}

/** Targets of links and pictures. @param {string} page @returns {string[]} */
export const linksOf = (page) =>
  Array.from(
    proseLines(page)
      .join('\n')
      .matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g),
    ([, markdown, html]) => markdown ?? html,
  )

/** Words of a line of shell; a variable becomes its default, or 20. @param {string} line @returns {string[]} */
const shellWords = (line) =>
  [
    ...line
      .replaceAll(/\$\{\w+:-(\w+)\}/g, '$1')
      .replaceAll(/\$\w+/g, '20')
      .matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g),
  ].map(([word]) => word.replaceAll(/['"]/g, ''))

const code = /^```\w*\n([\s\S]*?)^```$|^((?: {4,}.*\n?)+)|`((?:node|npm|npx) [^`\n]+)`/gm

/** @param {string[]} words */
const isCommand = ([program, first = '']) =>
  ['npm', 'millrace'].includes(program) || (program === 'node' && /\.js$/.test(first))

/**
 * The commands in fenced and indented code and in sentences, in their order.
 * @param {string} page
 * @returns {string[][]} words, from `node`, `npm` or `millrace` on
 */
export const commandsOf = (page) =>
  [...page.matchAll(code)]
    .flatMap(([, ...texts]) =>
      texts
        .join('')
        .replaceAll(/\\\n\s*/g, ' ')
        .split('\n'),
    )
    .map((line) => shellWords(line.replace(/(^|\s)(#|\|\||&&).*$/, '').replace(/^\s*npx /, '')))
    .filter(isCommand)
