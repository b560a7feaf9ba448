import { seedTests } from '../helpers/seed-tests.js'

seedTests('clients', 1, 30)
