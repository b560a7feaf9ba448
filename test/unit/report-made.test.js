import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { csvFiles, csvOf } from '../../lib/report/csv.js'
import { markdownText } from '../../lib/report/markdown.js'
import { html, markup, scriptData } from '../../lib/report/page/html.js'
import { allFiles, pageFiles } from '../../lib/report/write-report.js'
import { sampleExperiment, sampleRecord } from '../helpers/sample-record.js'
import { sourceOf } from '../helpers/sources.js'

const hostile = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'`|=cmd()'

/** A record in which every foreign text is hostile. */
const hostileRecord = () => {
  const record = sampleRecord({
    run: hostile,
    events: [{ at_ms: 2000, kind: hostile, text: hostile }],
    warnings: [{ code: 'x', message: hostile }],
    versions: { millrace: '0.1.0', node: '20', servers: [hostile] },
  })
  record.run.plan = { ...record.run.plan, prefix: hostile }
  assert.ok('items' in record.run)
  record.run.server.commands = { [hostile]: { calls: 10, usec: 10 } }
  record.run.items.failed_by = { [hostile]: 1 }
  for (const node of record.run.nodes) node.address = `${hostile}:1`
  for (const { nodes = [] } of record.seconds) for (const node of nodes) node.address = `${hostile}:1`
  return record
}

/** Pages take a quarter of a second to make. @template T @param {() => Promise<T>} make */
const once = (make) => {
  /** @type {Promise<T> | undefined} */
  let made
  return () => {
    made ??= make()
    return made
  }
}
const sampleFiles = once(() => pageFiles(sampleRecord()))
const hostileFiles = once(() => allFiles(hostileRecord()))

/** Tags as a parser sees them outside of scripts and styles. @param {string} page */
const tagsOf = (page) => {
  const plain = page.replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1>/g, '')
  return Array.from(plain.matchAll(/<([a-z][a-z0-9]*)/g), ([, tag]) => tag)
}

/** RFC 4180, as a spreadsheet reads it. @param {string} text */
const parsed = (text) => {
  /** @type {string[][]} */
  const rows = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows[rows.length - 1].push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '\r\n') rows.push([])
  }
  rows.pop()
  return rows
}

test('holes are escaped, lists joined, and nothing is nothing', () => {
  const found = String(html`<p title="${'"<'}">${['<b>', html`<i>${'&'}</i>`]}${null}${false}${0}</p>`)
  assert.equal(found, '<p title="&quot;&lt;">&lt;b&gt;<i>&amp;</i>0</p>')
  assert.equal(String(markup('<hr>')), '<hr>')
  assert.doesNotMatch(String(scriptData(['</script><!--'])), /<\/script|<!--/)
})

test('a page of hostile texts holds only the tags and scripts of the page', async () => {
  const page = String((await hostileFiles())['report.html'])
  // Its warnings are a list.
  const ours = new Set(['ul', 'li', ...tagsOf(String((await sampleFiles())['report.html']))])
  for (const tag of tagsOf(page)) assert.ok(ours.has(tag), tag)
  assert.equal(page.match(/<script/g)?.length, 3)
  assert.equal(tagsOf(page).includes('img'), false)
  assert.ok(page.includes('&lt;script&gt;alert(1)'))
})

test('nothing is fetched, and the policy holds the hash of every script and style', async () => {
  const page = String((await sampleFiles())['report.html'])
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1] ?? ''
  assert.match(policy, /^default-src 'none'; /)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  for (const part of [/<style>([\s\S]*?)<\/style>/, /<script type="module">([\s\S]*?)<\/script>/]) {
    const hash = createHash('sha256').update(part.exec(page)?.[1] ?? '')
    assert.ok(policy.includes(hash.digest('base64')), String(part))
  }
  const outside = page.replace(/<script\b[\s\S]*?<\/script>/g, '')
  assert.doesNotMatch(outside, /(?:src|href)="(?:https?:)?\/\//)
  assert.ok(Buffer.byteLength(page) < 450_000, String(Buffer.byteLength(page)))
})

test('Markdown: foreign texts are no markup', () => {
  assert.equal(markdownText('a|b_c*<d>'), 'a\\|b\\_c\\*\\<d\\>')
})

test('all files of a run: text, Markdown, CSV, SVG and PNG', async () => {
  const files = await hostileFiles()
  for (const name of [
    ...['report.html', 'report.md', 'report.txt', 'figures.csv', 'seconds.csv', 'nodes.csv'],
    ...['cpu.svg', 'cpu.png', 'cpu-dark.svg', 'cpu-dark.png'].map((chart) => `charts/${chart}`),
  ])
    assert.ok(files[name]?.length > 0, name)
  const markdown = String(files['report.md'])
  assert.doesNotMatch(markdown, /(?<!\\)<script/)
  for (const line of markdown.split('\n').filter((text) => text.startsWith('| ')))
    assert.equal(line.match(/(?<!\\)\|/g)?.length, line.match(/ \| |^\| | \|$/g)?.length, line)
})

test('CSV parses back, and starts no formula', () => {
  const [titles, texts] = [['a', 'b'], 'x,"y"\r\nz']
  const rows = parsed(csvOf([titles, [texts, '=1+1'], [1.5, null]]))
  assert.deepEqual(rows, [titles, [texts, "'=1+1"], ['1.5', '']])
  assert.equal(csvOf([[-1]]), '-1\r\n')
})

test('CSV of a run: a row a second, a row a node and second, and every figure', () => {
  const record = sampleRecord()
  const files = csvFiles(record)
  const [titles, ...seconds] = parsed(files['seconds.csv'])
  assert.equal(seconds.length, 8)
  const at = (/** @type {string} */ name) => {
    assert.ok(titles.includes(name), name)
    return titles.indexOf(name)
  }
  assert.equal(seconds[1][at('items.acked')], '1000')
  assert.equal(seconds[0][at('latency_us.intended.p50')], '')
  assert.ok(Number(seconds[1][at('latency_us.intended.p50')]) > 7000)
  assert.ok(titles.every((name) => !name.includes('hdr')))
  assert.equal(parsed(files['nodes.csv']).length, 1 + 8 * 4)
  const figures = new Map(parsed(files['figures.csv']).map(([name, unit, value]) => [name, [unit, value]]))
  assert.deepEqual(figures.get('server.cpu_us_per_item'), ['us', '4.812'])
  assert.deepEqual(figures.get('latency.intended.p99'), ['us', '31890'])
})

test('the script of a page has all that its modules import of each other', async () => {
  const page = String((await sampleFiles())['report.html'])
  const [, script = ''] = /<script type="module">([\s\S]*?)<\/script>/.exec(page) ?? []
  const parts = ['script', 'figures', 'theme', 'element']
  const browser = parts.map((name) => `lib/report/page/browser/${name}.js`)
  const imported = [...browser, 'lib/chart/theme.js', 'lib/base/units.js'].flatMap((path) =>
    [...sourceOf(path).matchAll(/^import \{ (.*) \} from/gm)].flatMap(([, names]) => names.split(', ')),
  )
  assert.ok(imported.length > 10)
  for (const name of imported) assert.match(script, new RegExp(`^const ${name} = `, 'm'))
})

test('an experiment: its table with links to its runs, ratios, and CSV with all samples', async () => {
  const experiment = sampleExperiment({ verdict: hostile })
  const files = await allFiles({ kind: 'experiment', experiment, timeline: null, pages: ['cells/list/1'] })
  const page = String(files['report.html'])
  assert.ok(page.includes('href="cells/list/1/report.html"'))
  assert.ok(page.includes('href="cells/sorted-set/1/run.json"'))
  assert.ok(page.includes('the load generator was the limit') && page.includes('list / sorted set'))
  assert.equal(page.match(/<script/g)?.length, 3)
  const [titles, first] = parsed(String(files['rows.csv']))
  const cell = (/** @type {string} */ name) => first[titles.indexOf(name)]
  assert.equal(cell('strategy'), 'sorted-set')
  assert.equal(cell('server.cpu_us_per_item'), '4.8')
  assert.equal(cell('server.cpu_us_per_item samples').split(' ').length, 3)
  assert.equal(cell('master.cpu_pct published'), '44.5')
})

test('the text file of an experiment has all columns, which may leave on a screen', async () => {
  const sample = sampleExperiment()
  const columns = sample.columns.map((column, at) => ({ ...column, title: `column ${at} ${'x'.repeat(50)}` }))
  const record = { experiment: { ...sample, columns }, timeline: null, pages: [] }
  const text = String((await allFiles({ kind: 'experiment', ...record }))['report.txt'])
  assert.ok(columns.length > 2)
  for (const { title } of columns) assert.ok(text.includes(title), title)
})
