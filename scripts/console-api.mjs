// npm run console:api: the copy of control's OpenAPI document that the console is typed by, and those types, made anew
// by the two tests that hold them to the document that control serves.
import { exitCode, install, spawnNode } from "./bootstrap.mjs";

install();
const VITEST = "node_modules/vitest/vitest.mjs";
for (const test of ["services/control/test/console-api.test.ts", "packages/console/test/api-types.test.ts"]) {
  const code = await exitCode(spawnNode([VITEST, "run", test, "--update=all"]));
  if (code !== 0) process.exit(code);
}
