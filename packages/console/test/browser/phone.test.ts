/** Texts that pages show on a phone alone. */
import { expect, it } from "vitest";
import { rowsOf } from "../story.ts";
import { startConsole, visit } from "./started-browser.ts";

startConsole();

it("a row of a list is a card that says which figure is which, on a phone", async () => {
  const page = await visit("/dead-letters", {}, { width: 360 });
  const open = rowsOf(page).first().locator("[data-heading=Open]");
  await open.waitFor();
  expect(await open.evaluate((cell) => getComputedStyle(cell, "::before").content)).toBe('"Open"');
  expect(await page.getByRole("columnheader", { name: "Open" }).isVisible()).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(await open.evaluate((cell) => getComputedStyle(cell, "::before").content)).toBe("none");
  expect(await page.getByRole("columnheader", { name: "Open" }).isVisible()).toBe(true);
});
