/** The pages of an operator's configuration, in each state. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { PAGES } from "./pages/all-pages.ts";
import { CONFIGURATION_PAGES } from "./pages/page-groups.ts";
import { testStates, YEARS_LATER } from "./pages/page-states.ts";
import { startConsole } from "./started-console.ts";

startConsole(YEARS_LATER);

it("has all pages among those that are tested in each state", async () => {
  const routes = await readFile(new URL("../src/routes.tsx", import.meta.url), "utf8");
  const paths = [...routes.matchAll(/^ {2}page\(\s*"(.+?)",/gm)].map(([, path]) => path);
  const tested = PAGES.map(({ route }) => route);
  expect(tested.sort()).toEqual(paths.sort());
});

testStates(CONFIGURATION_PAGES);
