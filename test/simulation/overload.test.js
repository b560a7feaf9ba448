import { seedTests } from '../helpers/seed-tests.js'

seedTests('overload', 1, 100)
