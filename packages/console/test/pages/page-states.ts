/**
 * The tests of a page in its four states, and refused, in both themes. It is loaded once for loading and empty, as a
 * person sees it: the second comes when the page's request is answered. It is loaded once more to fail, and is live
 * when it was read again; each page that is live from the first is in the tests of the pictures.
 */
import { describe, expect, it } from "vitest";
import { problem } from "../fake-control.ts";
import { control, poll, visit } from "../started-console.ts";
import { expectLargeLettersFit, expectSound } from "../story.ts";
import type { TestedPage } from "./tested-page.ts";

/** A moment of another year is the longest in words. */
export const YEARS_LATER = new Date("2029-03-01T12:00:00.000Z");

/** To be called in a test file that started its console. */
export function testStates(pages: readonly TestedPage[]): void {
  describe("a page", () => {
    it.each(pages)(
      "loads without a word for 150 ms, says that it does, then that nothing is there, and what to do: $route",
      async ({ path, reads, empty }) => {
        const page = await visit(path, { ...empty, [reads]: "pending" });
        const skeleton = page.locator("[data-state=loading]").first();
        await skeleton.waitFor();
        await skeleton.getByText(/^Loading /).waitFor({ state: "attached" });
        await expectSound(page);
        control.answer(empty);
        const reported = page.locator("[data-state=empty]").first();
        await reported.waitFor();
        expect(await reported.locator("code, button, a").count()).toBeGreaterThan(0);
        await expectSound(page);
      },
    );

    it.each(pages)(
      "says what failed or is not allowed, and shows what is there when asked again: $route",
      async (tested) => {
        const { path, reads, live, title, shows } = tested;
        const page = await visit(path, { ...live, [reads]: problem(500, "the log could not be read") });
        const reported = page.locator("[data-state=error]").first();
        await reported.waitFor();
        const text = await reported.innerText();
        expect(text).toContain("the log could not be read");
        expect(text).toContain("req_fake0123456789");
        await expectSound(page);
        const again = reported.getByRole("button", { name: "Try again" });
        control.answer({ ...live, [reads]: problem(403, "this needs a token with the scope read") });
        await again.click();
        await page.getByText(/You may not see/).waitFor();
        await page.getByText("this needs a token with the scope read").waitFor();
        await expectSound(page);
        control.answer(live);
        await again.click();
        await page.locator("[data-state=live]").first().waitFor();
        for (const each of shows) await page.getByText(each).first().waitFor();
        await poll(() => page.locator("[data-state=error]").count()).toBe(0);
        // Behind the mark of the worst state.
        expect((await page.title()).replace(/^[■▲] /, "")).toBe(title);
        await expectSound(page, "all");
        await expectLargeLettersFit(page);
      },
    );
  });
}
