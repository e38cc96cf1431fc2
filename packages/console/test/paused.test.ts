/** A page paused by `l` or the dot asks nothing, whichever it is: its content stands still. */
import { expect, it } from "vitest";
import { destinationPage, destinationsPage } from "./pages/configuration.ts";
import { testReceiversPage } from "./pages/connect.ts";
import { deletionPage } from "./pages/deletions.ts";
import { deadLettersPage } from "./pages/deliveries.ts";
import { overviewPage } from "./pages/overview.ts";
import { replayPage } from "./pages/replay.ts";
import { poll, startConsole, visit } from "./started-console.ts";
import { askedFrom } from "./story.ts";

/** Longer than anything waits before it asks again. */
const A_WHILE_MS = 70_000;
/** The frame's: the tab's icon carries the worst state in any case. */
const OF_THE_FRAME = "/v1/status";

startConsole();

it.each([
  overviewPage,
  destinationsPage,
  destinationPage,
  deletionPage,
  testReceiversPage,
  deadLettersPage,
  replayPage,
])("asks nothing while it is paused: $route", async ({ path, live, shows }) => {
  const page = await visit(path, live, { isOwn: true, prepare: ({ clock }) => clock.install() });
  await page
    .getByText(shows[0] ?? "")
    .first()
    .waitFor();
  await poll(() => page.locator("[data-state=loading]").count()).toBe(0);
  const asked = askedFrom(page);
  const ofThePage = () => asked.splice(0).filter((each) => each !== OF_THE_FRAME);
  await page.clock.runFor(A_WHILE_MS);
  await poll(() => ofThePage().length).toBeGreaterThan(0);
  await page.getByRole("button", { name: "live: pause" }).click();
  await page.getByRole("button", { name: /^paused/ }).waitFor();
  ofThePage();
  await page.clock.runFor(A_WHILE_MS);
  expect(ofThePage()).toEqual([]);
});
