// A comparison for programs. Pure.
import { plainData } from '../base/units.js'
import { conclusionOf } from './text.js'

/** @import { Comparison } from './comparison.js' */

/** @param {Comparison} comparison */
export const comparisonData = (comparison) => {
  const { design, baseline, other, effect, rows, rulings, unmatched, settings, warnings, ranks } = comparison
  const labels = [...new Set(rows.map(({ label }) => label))]
  return plainData({
    schema: 2,
    kind: 'comparison',
    design,
    baseline: baseline.name,
    other: other.name,
    effect,
    conclusions: (ranks ? ['', ...labels] : labels).map((label) => ({
      label,
      text: conclusionOf(comparison, label),
    })),
    settings,
    ...(ranks && {
      ranks: ranks.map(({ figure, primary, order, best, alike }) => ({
        name: figure.name,
        primary,
        order,
        best,
        alike,
      })),
    }),
    metrics: rows.map(({ label, figure, primary, a, b, difference }) => {
      const { centreA, centreB, verdict, ...found } = difference
      return {
        label,
        name: figure.name,
        title: figure.title,
        unit: figure.unit,
        better: figure.better,
        primary,
        baseline: { centre: centreA, samples: a },
        other: { centre: centreB, samples: b },
        ...found,
        verdict: primary ? verdict : null,
      }
    }),
    thresholds: rulings.map(({ threshold, label, figure, value, low, high, outcome }) => ({
      threshold,
      label,
      name: figure.name,
      value,
      low,
      high,
      outcome,
    })),
    warnings,
    unmatched,
  })
}
