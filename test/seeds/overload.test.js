import { seedTests } from '../helpers/seed-tests.js'

seedTests('overload', 26, 200)
