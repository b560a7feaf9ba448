// The words a reader is declared with. Both read drivers play the same declaration.

/**
 * How a reply becomes ids, scores and values:
 * members: ids; scored: id, score, id, score; values: items themselves; scored-values: item, score;
 * pairs: id, value; entries: of a stream, each with the fields id and value; script: what
 * lua/fetch-latest-items.lua returns.
 * @typedef {'members' | 'scored' | 'values' | 'scored-values' | 'pairs' | 'entries' | 'script'} Shape
 *
 * @typedef {object} IdsAsk a command whose reply holds ids
 * @property {'ids'} kind
 * @property {string} key
 * @property {string[]} args
 * @property {Shape} shape
 *
 * @typedef {object} NumberAsk a command whose reply is a number; numbers of one name are added up
 * @property {'number'} kind
 * @property {string} name
 * @property {string} key
 * @property {string[]} args
 *
 * @typedef {object} NewestAsk a command that tells the newest score of a set, where the ids come without
 * @property {'newest'} kind
 * @property {string} key
 * @property {string[]} args
 *
 * @typedef {IdsAsk | NumberAsk | NewestAsk} Ask
 *
 * @typedef {object} Moment what a fetch knows when it begins
 * @property {number} nowMs by the clock of the server that is asked
 * @property {boolean} scores every id must come with its score
 *
 * @typedef {object} ValueCommand reads the value of an id: name, id, and what stands behind it
 * @property {string} name
 * @property {string[]} after
 * @property {boolean} many the command takes many ids at once as well (GET and MGET)
 *
 * @typedef {object} Declaration
 * @property {(moment: Moment) => Ask[]} asks all of them may be sent at once
 * @property {ValueCommand | null} value null: the values come with the ids
 * @property {ValueCommand} [again] asks once more for a value that came with its id, where they are kept apart
 * @property {boolean} dated ids come with the time they were written, when it is asked for
 * @property {boolean} unique an id may come twice
 */

/** @param {string[]} args the key is the first after the name @param {Shape} shape @returns {IdsAsk} */
export const ids = (args, shape) => ({ kind: 'ids', key: args[1], args, shape })

/** @param {string} name @param {string[]} args @returns {NumberAsk} */
export const number = (name, args) => ({ kind: 'number', name, key: args[1], args })

/** @param {string[]} args @returns {NewestAsk} */
export const newest = (args) => ({ kind: 'newest', key: args[1], args })

/** @type {ValueCommand} */
export const get = Object.freeze({ name: 'GET', after: [], many: true })
