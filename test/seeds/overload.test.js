import { seedTests } from '../helpers/seed-tests.js'

seedTests('overload', 51, 200)
