import { seedTests } from '../helpers/seed-tests.js'

seedTests('socket', 41, 300)
