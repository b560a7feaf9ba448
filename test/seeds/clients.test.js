import { seedTests } from '../helpers/seed-tests.js'

seedTests('clients', 51, 250)
