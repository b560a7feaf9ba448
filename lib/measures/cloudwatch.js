// CloudWatch's numbers of the nodes, which are added to a finished run.

import * as S from '../base/shape.js'
import { exactly } from '../base/typed.js'
import { metric } from './measure.js'
import { section } from './section.js'

/** @import { Run } from './section.js' */

const node = S.object({
  id: S.text,
  kind: S.oneOf('node', 'serverless'),
  address: S.nullable(S.text),
  role: S.oneOf('master', 'replica', null),
  means: S.byName(S.number),
  points: S.byName(S.list(exactly({ type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 }))),
})

const shape = S.object({
  region: S.text,
  period_s: S.number,
  from: S.text,
  to: S.text,
  settled: S.flag,
  read_at: S.text,
  nodes: S.list(node),
  notes: S.list(S.text),
})

/** The mean of a role's nodes, by their role or addresses. @param {string} role @param {string} name */
const meanOf =
  (role, name) =>
  (
    /** @type {import('../base/shape-types.js').Shaped<typeof shape>} */ { nodes },
    /** @type {Run} */ run,
  ) => {
    const roles = new Map(
      (run.nodes ?? []).map((/** @type {{ address: string, role: string }} */ known) => [
        known.address,
        known.role,
      ]),
    )
    const values = nodes
      .filter((one) => (one.role ?? roles.get(one.address)) === role)
      .map(({ means }) => means[name])
      .filter((value) => Number.isFinite(value))
    return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null
  }

const metrics = exactly([
  ['cpu_pct', 'CPUUtilization', '% of all vCPUs'],
  ['engine_cpu_pct', 'EngineCPUUtilization', '% of one core'],
])

export const cloudwatch = section('cloudwatch', shape, {
  metrics: Object.fromEntries(
    ['master', 'replica'].flatMap((role) =>
      metrics.map(([key, name, axis]) => [
        `cloudwatch.${role}.${key}`,
        { ...metric(`${name} of the ${role}s`, 'pct'), axis, value: meanOf(role, name) },
      ]),
    ),
  ),
})
