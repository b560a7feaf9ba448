import { seedTests } from '../helpers/seed-tests.js'

seedTests('fleet', 1, 25)
