#!/usr/bin/env node
// Writes items the way an application would, and reports what that cost.
import { program } from './lib/cli/program.js'

// Help and mistyped options do not wait for what only a run needs.
await program('producer', async (settings, signals) => {
  const { runProgram } = await import('./lib/cli/run.js')
  return runProgram('producer', settings, signals)
})
