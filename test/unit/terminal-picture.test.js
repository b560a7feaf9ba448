// The picture of a terminal in README.md has what the program prints.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleText, terminalColumns, terminalFiles, terminalPicture } from '../../scripts/readme/terminal.js'

/** The lines of a picture from its texts and their places, and the colour that each line begins with. @param {string} svg */
const shown = (svg) => {
  const lines = /** @type {Map<number, { text: string, colour: string }>} */ (new Map())
  const texts = /<text x="([\d.]+)" y="(\d+)" fill="(#\w+)"[^>]*>([^<]*)<\/text>/g
  for (const [, x, y, colour, text] of svg.matchAll(texts)) {
    const line = lines.get(Number(y)) ?? { text: '', colour }
    const plain = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
    line.text = line.text.padEnd(Math.round((Number(x) - 20) / 8.4)) + plain
    lines.set(Number(y), line)
  }
  return [...lines.values()]
}

test('it has the lines of the stored run as the program prints them, within 80 columns', () => {
  const [svg] = Object.values(terminalFiles())
  const [prompt, ...lines] = shown(svg).map(({ text }) => text.trimEnd())
  assert.equal(prompt, '$ npm start')
  assert.deepEqual(lines, sampleText(terminalColumns).split('\n').filter(Boolean))
  assert.ok(lines.length >= 6 && lines.every((line) => line.length <= terminalColumns))
})

test('a verdict has its colour, a note another, and markup is escaped', () => {
  const colours = (/** @type {string} */ verdict) =>
    shown(terminalPicture(['$ x', verdict, '  memory   <1 B & less', '  ! a note'], 'x')).map((line) => line)
  const [, valid, memory, note] = colours('✓ VALID  sorted-set')
  const [, invalid] = colours('✗ NOT VALID  sorted-set')
  const [, failed] = colours('FAILED  a threshold')
  assert.equal(memory.text, '  memory   <1 B & less')
  assert.equal(invalid.text, '✗ NOT VALID  sorted-set')
  assert.equal(invalid.colour, failed.colour)
  assert.equal(new Set([valid, memory, note, invalid].map(({ colour }) => colour)).size, 4)
})
