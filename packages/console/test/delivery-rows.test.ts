/** Rows of deliveries: the answers to their tries, and sending one again where it stands. */
import { describe, expect, it } from "vitest";
import { exampleOf, problem } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, focusOf, rowsOf } from "./story.ts";

const LATEST = "GET /v1/deliveries/latest";
const RESEND = "POST /v1/deliveries/resend";
const [example] = (exampleOf(LATEST).body as { readonly data: readonly object[] }).data;
const PAGE = { nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true, searchedTo: null };
const rows = (...data: readonly object[]) => {
  return { [LATEST]: { body: { ...PAGE, data: data.map((each) => ({ ...example, ...each })) } } };
};
const answers = (...tried: readonly (readonly string[])[]) =>
  tried.map((urls, index) => ({ attempt: index + 1, time: PAGE.asOf, urls }));
const resends = () => control.requests.filter(({ operation }) => operation === RESEND).map(({ body }) => body);

startConsole();

describe("the row of a delivery", () => {
  it("has what every try was answered, oldest first, and says that there were more", async () => {
    const once = { messageId: "once", state: "delivered", attempts: 1, answers: answers(["200"]) };
    const page = await visit(
      "/deliveries",
      rows(
        { messageId: "thrice", attempts: 3, answers: answers(["503"], ["503"], ["timeout"]), earlier: 0 },
        { messageId: "two-urls", attempts: 2, answers: answers(["503", "500"], ["200"]), earlier: 0 },
        { messageId: "often", attempts: 10, answers: answers(["503"], ["404"]), earlier: 8 },
        { ...once, replayId: "rsd_1", sentBy: "dana" },
        { ...once, messageId: "unknown", replayId: "rsd_2", sentBy: null },
        { ...once, messageId: "replayed", replayId: "rpl_1", sentBy: null },
      ),
    );
    await page.getByText("thrice").waitFor();
    const reported = (await rowsOf(page).allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
    expect(reported).toEqual([
      expect.stringContaining("failed 503,503,timeout, 3 attempts"),
      expect.stringContaining("failed 503+500,200, 2 attempts"),
      expect.stringContaining("failed …,503,404, 10 attempts"),
      expect.stringMatching(/● delivered, sent by hand, by dana (?!.*200)/),
      expect.stringContaining("delivered, sent by hand, by whom the audit does not know"),
      expect.stringContaining("delivered, of a replay"),
    ]);
  });

  it("is sent again by its button, which says there what came of it and by whom, and opens nothing", async () => {
    const page = await visit("/deliveries", {
      ...rows({ messageId: "message-2" }, { messageId: "message-1" }),
      [RESEND]: { status: 202, body: { replayId: "rsd_1", copyWaits: false } },
      "GET /v1/deliveries": () => {
        const { data } = exampleOf("GET /v1/deliveries").body as { readonly data: readonly object[] };
        const urls = [{ url: "https://a.example/hook", status: 503, error: null, durationMs: 5, answer: null }];
        return { body: { ...PAGE, data: [{ ...data[0], replayId: "rsd_1", outcome: "retryable", urls }] } };
      },
    });
    const row = rowsOf(page).filter({ hasText: "message-1" });
    await row.getByRole("button", { name: "Send again message-1 to Billing" }).click();
    await row.getByText("503: it was not taken by hand, by admin.").waitFor();
    expect(resends()).toMatchObject([{ messageId: "message-1", destinationId: "dst_4k2v8m1n0p3q5r7s" }]);
    expect(new URL(page.url()).pathname).toBe("/deliveries");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("says where it stands why it was not sent again, and where it cannot be", async () => {
    const page = await visit("/deliveries", {
      ...rows({ messageId: "message-2" }, { messageId: "message-1", state: "suppressed" }),
      [RESEND]: problem(409, "its record is past its retention, so that nothing is left to send"),
    });
    const [first, second] = [rowsOf(page).first(), rowsOf(page).last()];
    await first.getByRole("button", { name: /^Send again/ }).click();
    await first.getByText("its record is past its retention").waitFor();
    expect(await second.getByRole("button", { name: /^Send again/ }).count()).toBe(0);
    await second.getByRole("button", { name: /^Actions for/ }).click();
    const action = page.getByRole("menuitem", { name: "Send again: a deletion request stopped the user's events" });
    expect(await action.getAttribute("aria-disabled")).toBe("true");
    expect(await axeFaults(page)).toEqual([]);
    expect(resends()).toHaveLength(1);
  });

  it("that cannot be sent again says why at the key for that, and sends nothing", async () => {
    const page = await visit("/deliveries", rows({ messageId: "message-1", state: "suppressed" }));
    await page.getByText("message-1").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("r");
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "a deletion request stopped the user's events" }).waitFor();
    expect(resends()).toEqual([]);
  });

  it("that was delivered is sent again by its menu alone", async () => {
    const page = await visit("/deliveries", {
      ...rows({ messageId: "message-1", state: "delivered" }),
      [RESEND]: { status: 202, body: { replayId: "rsd_1", copyWaits: false } },
    });
    await page.getByText("message-1").waitFor();
    expect(await page.getByRole("button", { name: /^Send again/ }).count()).toBe(0);
    await page.keyboard.press("j");
    await page.keyboard.press("r");
    await focusOf(page.getByRole("button", { name: "Actions for message-1 to Billing" }));
    await page.keyboard.press("Enter");
    await focusOf(page.getByRole("menuitem", { name: "Send again" }));
    await page.keyboard.press("Enter");
    await poll(resends).toHaveLength(1);
    await rowsOf(page).getByText("by hand, by admin.").waitFor();
  });

  it("is sent again by keys alone: to the row, to its button, Enter", async () => {
    const page = await visit("/deliveries", rows({ messageId: "message-1" }));
    await page.getByText("message-1").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("ArrowLeft");
    await page
      .getByRole("button", { name: /^Send again message-1/ })
      .and(page.locator(":focus"))
      .waitFor();
    await page.keyboard.press("Enter");
    await poll(resends).toHaveLength(1);
    expect(new URL(page.url()).pathname).toBe("/deliveries");
  });
});
