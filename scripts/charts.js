// The part of echarts that the charts use, as one file of the package: `npm pack` makes it (prepack). A clone has the
// whole library instead. node scripts/charts.js [file]
import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packedLibrary } from '../lib/report/draw.js'

const root = fileURLToPath(new URL('..', import.meta.url))

// echarts draws a chart without a component that is missing, and reports no error.
const parts = `
export * from 'echarts/core'
import { use } from 'echarts/core'
import { BarChart, LineChart, ScatterChart } from 'echarts/charts'
import { GridComponent, LegendPlainComponent, MarkAreaComponent, MarkLineComponent, TitleComponent, TooltipComponent } from 'echarts/components'
import { SVGRenderer } from 'echarts/renderers'
use([BarChart, LineChart, ScatterChart, GridComponent, LegendPlainComponent, MarkAreaComponent, MarkLineComponent, TitleComponent, TooltipComponent, SVGRenderer])
`

const { buildSync } = createRequire(import.meta.url)('esbuild')

/** @param {string} path below node_modules */
const textOf = (path) => readFileSync(join(root, 'node_modules', path), 'utf8').trim()

/** Both a script that sets `echarts` and a module that is required. */
const chartLibrary = () => {
  const { version } = JSON.parse(textOf('echarts/package.json'))
  const { outputFiles } = buildSync({
    stdin: { contents: parts, resolveDir: root },
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    globalName: 'echarts',
    target: 'es2020',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    banner: {
      js: `/*! Apache ECharts ${version} (Apache License 2.0) with zrender (BSD 3-Clause) and tslib (0BSD): see echarts.LICENSE.txt */`,
    },
    footer: { js: "if(typeof module==='object')module.exports=echarts;" },
  })
  return outputFiles[0].text
}

/** What their licences ask to go with them. */
const licences = () =>
  ['echarts/NOTICE', 'echarts/LICENSE', 'zrender/LICENSE', 'tslib/LICENSE.txt']
    .map((path) => `${path}\n\n${textOf(path)}\n`)
    .join(`\n${'='.repeat(80)}\n\n`)

/** Renames a whole file into place, since another `npm pack` may be reading it. @param {string} file @param {string} text */
const put = (file, text) => {
  const part = `${file}.${process.pid}`
  writeFileSync(part, text)
  renameSync(part, file)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const file = process.argv[2] ?? packedLibrary
  mkdirSync(dirname(file), { recursive: true })
  put(file, chartLibrary())
  put(join(dirname(file), 'echarts.LICENSE.txt'), licences())
}
