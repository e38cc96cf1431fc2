/** Pages in the colours of the machine. */
import { expect, it } from "vitest";
import { exampleOf } from "../fake-control.ts";
import { startConsole, visit } from "./started-browser.ts";

const DESTINATION = exampleOf("GET /v1/destinations/{id}").body as { readonly id: string };
const settingsPath = `/destinations/${DESTINATION.id}?tab=settings`;

startConsole();

it("tells what is chosen and what cannot be pressed in forced colours too", async () => {
  const page = await visit(settingsPath);
  await page.emulateMedia({ forcedColors: "active" });
  const lines = () =>
    page.getByRole("tab").evaluateAll((all) => all.map((each) => getComputedStyle(each).borderBottomColor));
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  const ground = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  expect((await lines()).filter((line) => line !== ground)).toHaveLength(1);
  const colourOf = (name: string) =>
    page.getByRole("button", { name, exact: true }).evaluate((button) => getComputedStyle(button).color);
  expect(await colourOf("Save")).not.toBe(await colourOf("Send a test by the saved settings"));
  const places = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
  const outlines = await places.evaluateAll((all) => all.map((each) => getComputedStyle(each).outlineStyle));
  expect(outlines.filter((style) => style === "solid")).toHaveLength(1);
});
