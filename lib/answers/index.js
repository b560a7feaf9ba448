// The answers that Millrace gives, each declared in one file.
import { compare } from '../compare/report.js'
import { experiment } from '../report/experiment.js'
import { choose } from './choose/report.js'
import { findMemory } from './find/memory-report.js'
import { find } from './find/report.js'
import { cachePlan } from './plan/cache-answer.js'
import { calibration } from './plan/calibration.js'
import { plan } from './plan/report.js'
import { profile } from './profile/report.js'

export const answers = Object.freeze([
  ...[find, findMemory, choose],
  ...[compare, experiment],
  ...[calibration, plan, cachePlan],
  profile,
])
