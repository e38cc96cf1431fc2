/** The pages of events and of their verdicts, in each state. */
import { describe, expect, it } from "vitest";
import { problem } from "./fake-control.ts";
import { destinationPage } from "./pages/configuration.ts";
import { deliveriesPage } from "./pages/deliveries.ts";
import { eventPage } from "./pages/event.ts";
import { EVENT_PAGES } from "./pages/page-groups.ts";
import { testStates, YEARS_LATER } from "./pages/page-states.ts";
import { control, startConsole, visit } from "./started-console.ts";
import { expectSound } from "./story.ts";

startConsole(YEARS_LATER);

testStates(EVENT_PAGES);

describe("the question to sign in again", () => {
  // It is the frame's, whatever stands under it: a page with one event, a list, and one with a form.
  it.each([eventPage, deliveriesPage, destinationPage])(
    "stands over a page that stays: $route",
    async ({ path, reads, live }) => {
      const page = await visit(path, { ...live, [reads]: problem(401, "the session is over: sign in again") });
      const dialog = page.getByRole("dialog", { name: "Your session is over" });
      await dialog.waitFor();
      expect(page.url()).toBe(control.url + path);
      await expectSound(page, "all");
      control.answer(live);
      await dialog.getByLabel("Token").fill("pht_right");
      await dialog.getByRole("button", { name: "Sign in" }).click();
      await dialog.waitFor({ state: "detached" });
      await page.locator("[data-state=live]").first().waitFor();
    },
  );
});
