#!/usr/bin/env node
// Fetches the live items the way an application would, and reports how fast, how fresh, and whether right.
import { program } from './lib/cli/program.js'

// Help and mistyped options do not wait for what only a run needs.
await program('consumer', async (settings, signals) => {
  const { runProgram } = await import('./lib/cli/run.js')
  return runProgram('consumer', settings, signals)
})
