/** Lists that are longer than a browser should hold: TB2 of table.tsx, QL4 of paged-list.tsx. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeRequest } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, focusOf, rowsOf } from "./story.ts";

const LATEST = "GET /v1/deliveries/latest";
const GROUPS = "GET /v1/dead-letters/groups";
const PAGE = { asOf: "2026-11-22T14:12:10.000Z", complete: true };
const [delivery] = (exampleOf(LATEST).body as { readonly data: readonly object[] }).data;
const [group] = (exampleOf(GROUPS).body as { readonly data: readonly object[] }).data;

startConsole();

/** Of 400, each by its number; the cursor is the number of the next one. */
function pageOf({ query }: FakeRequest, row: (n: number) => object) {
  const first = Number(query.get("cursor") ?? 0);
  const next = Math.min(400, first + Number(query.get("limit")));
  const data = Array.from({ length: next - first }, (_, n) => row(first + n));
  return { body: { ...PAGE, data, nextCursor: next < 400 ? String(next) : null, groups: 400, searchedTo: null } };
}

/** In place of the browser's own observer: the test says what is seen. */
function watchByHand(): void {
  const before = Object.getOwnPropertyDescriptor(window, "IntersectionObserver");
  const told = new Set<(entries: readonly { readonly isIntersecting: boolean }[]) => void>();
  class ByHand {
    constructor(tell: (entries: readonly { readonly isIntersecting: boolean }[]) => void) {
      told.add(tell);
    }
    observe(): void {}
    disconnect(): void {}
  }
  Object.assign(window, {
    IntersectionObserver: ByHand,
    seeEnd: (isIntersecting: boolean) => {
      for (const tell of told) tell([{ isIntersecting }]);
    },
    watchAgain: () => {
      Reflect.deleteProperty(window, "IntersectionObserver");
      if (before !== undefined) Object.defineProperty(window, "IntersectionObserver", before);
    },
  });
}

const rows = (page: Page) => rowsOf(page).count();

describe("a long list", () => {
  it("TB2: of more than two hundred rows has those in the window alone in the document", async () => {
    const page = await visit("/deliveries", {
      [LATEST]: (asked) => pageOf(asked, (n) => ({ ...delivery, messageId: `message-n${n}` })),
    });
    await poll(() => rows(page)).toBe(50);
    await page.getByRole("button", { name: "More", exact: true }).click();
    await poll(() => page.getByRole("grid").getAttribute("aria-rowcount")).toBe("251");
    expect(await rows(page)).toBeLessThan(200);
    await page.getByRole("button", { name: "More", exact: true }).click();
    await poll(() => page.getByRole("grid").getAttribute("aria-rowcount")).toBe("401");
    expect(await axeFaults(page)).toEqual([]);
  });

  it("QL4: goes on by itself after one press, each time its end is seen, and not before", async () => {
    const page = await visit(
      "/deliveries",
      { [LATEST]: (asked) => pageOf(asked, (n) => ({ ...delivery, messageId: `message-n${n}` })) },
      { isOwn: true, prepare: (own) => own.evaluate(watchByHand) },
    );
    const count = () => page.getByRole("grid").getAttribute("aria-rowcount");
    const see = (isSeen: boolean) => page.evaluate((seen) => Reflect.get(window, "seeEnd")(seen), isSeen);
    await poll(count).toBe("51");
    await see(true);
    await page.keyboard.press("j");
    await focusOf(page.locator("[data-index='0']"));
    expect(control.requests.filter(({ query }) => query.has("cursor"))).toEqual([]);
    await see(false);
    await page.getByRole("button", { name: "More", exact: true }).click();
    await poll(count).toBe("251");
    await see(true);
    await poll(count).toBe("401");
    await page.evaluate(() => Reflect.get(window, "watchAgain")());
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
