// The picture of a terminal in README.md: what the program prints at the end of the stored run, as an SVG.
import { runText } from '../../lib/report/text.js'
import { runDocumentNamed } from './data.js'

/** A line of the program is at most this long. */
export const terminalColumns = 80
const [width, height, left, top] = [8.4, 20, 20, 48]
const colours = {
  ground: '#0d1117',
  bar: '#161b22',
  text: '#e6edf3',
  label: '#7d8590',
  good: '#3fb950',
  bad: '#f85149',
  note: '#d29922',
}

const escaped = (/** @type {string} */ text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** The parts of a line with their colours: the verdict, notes, and the labels in front of values. @param {string} line @param {number} at */
const partsOf = (line, at) => {
  if (line.startsWith('$')) return [{ text: line, colour: colours.text }]
  if (at === 1) {
    const [verdict] = /^(?:\S )?[A-Z ]+[A-Z]/.exec(line) ?? ['']
    const colour = /NOT|FAILED|PARTIAL/.test(verdict) ? colours.bad : colours.good
    return [
      { text: verdict, colour },
      { text: line.slice(verdict.length), colour: colours.text },
    ]
  }
  if (/^\s*[!⚠]/.test(line)) return [{ text: line, colour: colours.note }]
  const [, label, value] = /^(\s*\S.*?\s{2,})(\S.*)$/.exec(line) ?? [null, '', line]
  return [
    { text: label, colour: colours.label },
    { text: value, colour: colours.text },
  ]
}

/** The lines of a terminal, a character in each cell whatever the font. @param {readonly string[]} lines @param {string} title */
export const terminalPicture = (lines, title) => {
  const [w, h] = [left * 2 + terminalColumns * width, top + lines.length * height].map(Math.ceil)
  const texts = lines.flatMap((line, at) => {
    let column = 0
    return partsOf(line, at).map(({ text, colour }) => {
      const x = (left + column * width).toFixed(1)
      const length = [...text].length
      column += length
      if (text.trim() === '') return ''
      const size = (length * width).toFixed(1)
      return `  <text x="${x}" y="${top + at * height}" fill="${colour}" textLength="${size}" xml:space="preserve">${escaped(text)}</text>\n`
    })
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="img" aria-label="${escaped(title).replaceAll('"', '&quot;')}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
  <rect width="${w}" height="${h}" rx="8" fill="${colours.ground}"/>
  <path d="M0 28V8a8 8 0 0 1 8-8H${w - 8}a8 8 0 0 1 8 8v20z" fill="${colours.bar}"/>
  <g fill="${colours.label}"><circle cx="16" cy="14" r="5"/><circle cx="34" cy="14" r="5"/><circle cx="52" cy="14" r="5"/></g>
${texts.join('')}</svg>
`
}

/** What the program prints of the stored run. @param {number} columns */
export const sampleText = (columns) => {
  const run = runDocumentNamed('sample')
  if (!run) throw new Error('docs/data/sample.run.json is missing')
  return runText(run, { columns }).trimEnd()
}

export const terminalFile = 'charts/measured/terminal.svg'

/** The picture by its path, and how README.md shows it. */
export const terminalFiles = () => {
  const lines = sampleText(terminalColumns).split('\n')
  return { [terminalFile]: terminalPicture(['$ npm start', ...lines], 'The end of npm start in a terminal') }
}

export const terminalMarkup = () => {
  const [verdict] = sampleText(terminalColumns).split('\n')
  return `<img alt="The end of npm start: ${escaped(verdict.trim()).replaceAll('"', '&quot;')}" src="${terminalFile}">`
}
