// Imported by tests that only compute: beside them are tests of programs that must keep their rates.
import { setPriority } from 'node:os'

setPriority(5)
