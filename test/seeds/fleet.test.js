import { seedTests } from '../helpers/seed-tests.js'

seedTests('fleet', 101, 400)
