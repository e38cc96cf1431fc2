/** Every damage that `npm run test:damages` makes. */
import { CONSOLE } from "./console.mjs";
import { ENGINE } from "./engine.mjs";
import { INGEST } from "./ingest.mjs";
import { SECRETS } from "./secrets.mjs";

/**
 * A damage: the file, a text that stands in it once, the text in its place, and the tests of which one must turn red.
 *
 * @type {readonly { damage: string, file: string, from: string, to: string, tests: readonly string[] }[]}
 */
export const DAMAGES = [...CONSOLE, ...ENGINE, ...INGEST, ...SECRETS];
