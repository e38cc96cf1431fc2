/** Lists that are longer than a browser should hold: QL4 of paged-list.tsx. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeRequest } from "./fake-control.ts";
import { poll, startConsole, visit } from "./started-console.ts";

const LATEST = "GET /v1/deliveries/latest";
const GROUPS = "GET /v1/dead-letters/groups";
const PAGE = { asOf: "2026-11-22T14:12:10.000Z", complete: true };
const [delivery] = (exampleOf(LATEST).body as { readonly data: readonly object[] }).data;
const [group] = (exampleOf(GROUPS).body as { readonly data: readonly object[] }).data;

startConsole();

/** Of 400, each by its number; the cursor is the number of the next one. */
function pageOf({ query }: FakeRequest, row: (n: number) => object) {
  const first = Number(query.get("cursor") ?? 0);
  const data = Array.from({ length: 50 }, (_, n) => row(first + n));
  return {
    body: { ...PAGE, data, nextCursor: first < 350 ? String(first + 50) : null, groups: 400, searchedTo: null },
  };
}

const rows = (page: Page) => page.getByRole("row").count();

describe("a long list", () => {
  it("QL4: has two hundred rows at the most, and one button leads back to the newest", async () => {
    const page = await visit("/deliveries", {
      [LATEST]: (asked) => pageOf(asked, (n) => ({ ...delivery, messageId: `message-n${n}` })),
    });
    const more = page.getByRole("button", { name: "More", exact: true });
    const back = page.getByRole("button", { name: "Back to the newest" });
    for (const count of [50, 100, 150]) {
      await poll(() => rows(page)).toBe(count);
      await more.click();
    }
    await poll(() => rows(page)).toBe(200);
    expect(await back.count()).toBe(0);
    await more.click();
    await page.getByText("message-n249", { exact: true }).waitFor();
    expect([await rows(page), await page.getByText("message-n49", { exact: true }).count()]).toEqual([200, 0]);
    await back.click();
    await page.getByText("message-n0", { exact: true }).waitFor();
    expect([await rows(page), await back.count()]).toEqual([50, 0]);
  });

  it("of groups of dead letters has two hundred at the most, and says how many more the terminal has", async () => {
    const page = await visit("/dead-letters", {
      [GROUPS]: (asked) => pageOf(asked, (n) => ({ ...group, destinationId: `dst_${n}` })),
    });
    for (const left of [350, 300, 250])
      await page.getByRole("button", { name: `More: ${left} smaller groups` }).click();
    await page.getByText("posthaste dead-letters groups has the 200 smaller ones too.").waitFor();
    expect([await rows(page), await page.getByRole("button", { name: /^More: / }).count()]).toEqual([200, 0]);
  });
});
