// node scripts/run.mjs FILE [ARGUMENT...]: runs a TypeScript file of the project under Node 24.
import { exitCode, install, passSignals, spawnNode } from "./bootstrap.mjs";

if (process.argv.length < 3) {
  console.error("usage: node scripts/run.mjs FILE [ARGUMENT...]");
  process.exit(2);
}
install();
const child = spawnNode(process.argv.slice(2));
passSignals(child);
process.exit(await exitCode(child));
