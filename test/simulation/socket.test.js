import { socketDriver } from '../../lib/transport/socket.js'
import { seedTests } from '../helpers/seed-tests.js'

seedTests({ name: 'socket', open: socketDriver }, 1, 200)
