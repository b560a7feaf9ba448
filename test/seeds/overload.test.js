import { seedTests } from '../helpers/seed-tests.js'

seedTests('overload', 13, 72)
