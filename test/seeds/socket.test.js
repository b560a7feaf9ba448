import { seedTests } from '../helpers/seed-tests.js'

seedTests('socket', 201, 500)
