/** The rules of the frame that only a browser shows: the place of the focus, and the fit of its parts. */
import { describe, expect, it } from "vitest";
import { eventPage } from "../pages/event.ts";
import { sidewaysPx } from "../story.ts";
import { inShort, startConsole, visit } from "./started-browser.ts";

const MOST_STEPS = 60;

startConsole();

describe("keys", () => {
  it("show where they are on each control that they reach, in both themes and in forced colours", async () => {
    const page = await visit(eventPage.path, eventPage.live);
    await page.getByText("Failed").first().waitFor();
    await page.getByRole("button", { name: /^live/ }).waitFor();
    await expect.poll(() => page.locator("[data-state=loading]").count()).toBe(0);
    for (const media of [{ colorScheme: "light" }, { colorScheme: "dark" }, { forcedColors: "active" }] as const) {
      await page.emulateMedia(media);
      const reached = new Map<number, string>();
      for (let steps = 0; steps < MOST_STEPS; steps++) {
        const [place, outline] = await page.evaluate(() => {
          const at = document.activeElement ?? document.body;
          const { outlineStyle, outlineWidth } = getComputedStyle(at);
          // The document itself, between the last control and the first.
          if (at === document.body) return [0, ""] as const;
          const words = at.getAttribute("aria-label") ?? at.textContent;
          // By its identity and not by its place: a part that comes above it meanwhile moves it.
          const known = globalThis as { places?: Element[] };
          known.places ??= [document.body];
          if (!known.places.includes(at)) known.places.push(at);
          return [known.places.indexOf(at), `${words}: ${outlineStyle} ${outlineWidth}`] as const;
        });
        if (reached.has(place)) break;
        reached.set(place, outline);
        await page.keyboard.press("Tab");
      }
      expect(reached.size).toBeGreaterThan(20);
      reached.delete(0);
      expect([...reached.values()].filter((outline) => !outline.endsWith(": solid 2px"))).toEqual([]);
    }
  });
});

describe("the top bar", () => {
  it.each([360, 1280])("has search, what comes live, theme and name, %i pixels wide, none cut off", async (width) => {
    const page = await visit("/access", {}, { width });
    await page.getByRole("button", { name: /^live/ }).waitFor();
    const buttons = page.getByRole("banner").getByRole("button");
    const names = await buttons.evaluateAll((all) => all.map((each) => each.ariaLabel ?? each.textContent ?? ""));
    expect(names.map((name) => name.split(/[:,]/)[0])).toEqual(["Search", "live", "Theme", "Keys", "You"]);
    const boxes = await buttons.evaluateAll((all) =>
      all.map((each) => {
        const { left, right, width: wide, height } = each.getBoundingClientRect();
        return [left >= 0 && right <= window.innerWidth, Math.min(wide, height) >= 24];
      }),
    );
    expect(boxes).toEqual(names.map(() => [true, true]));
    expect(await sidewaysPx(page)).toBe(0);
  });

  it.each(inShort([360, 768, 1280, 480, 640], 2))(
    "says whole what is searched, or by a sign alone, %i pixels wide",
    async (width) => {
      const page = await visit("/access", {}, { width });
      const search = page.getByRole("button", { name: "Search, or paste a message id" });
      // The longest of the texts beside it.
      await page.getByRole("button", { name: /^live/ }).click();
      await page.getByRole("button", { name: /^paused/ }).waitFor();
      const [seen, needed] = await search.locator("span").evaluate((words) => {
        const isHidden = getComputedStyle(words).clipPath !== "none";
        return isHidden ? [0, 0] : [words.clientWidth, words.scrollWidth];
      });
      expect([seen >= needed, seen > 0]).toEqual([true, width > 704]);
      await search.click();
      await page.getByRole("dialog").waitFor();
    },
  );
});
