import { seedTests } from '../helpers/seed-tests.js'

seedTests('chunks', 31, 130)
