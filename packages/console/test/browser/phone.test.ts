/** Texts that pages show on a phone alone. */
import { expect, it } from "vitest";
import { startConsole, visit } from "./started-browser.ts";

startConsole();

it("a list says of a group what its number counts, on a phone", async () => {
  const page = await visit("/dead-letters", {}, { width: 360 });
  const count = page.getByText("1 dead letter", { exact: true });
  expect((await count.innerText()).trim()).toBe("1 dead letter");
  const words = page.getByText("dead letter", { exact: true });
  expect((await words.boundingBox())?.width ?? 0).toBeGreaterThan(40);
});
