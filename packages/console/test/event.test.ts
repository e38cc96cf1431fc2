/** The requests that the page of an event shows, and sends again. */
import { describe, expect, it } from "vitest";
import { exampleOf, problem } from "./fake-control.ts";
import { eventPage } from "./pages/event.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, copiedOn, expectSound } from "./story.ts";

const RECORD = exampleOf("GET /v1/deliveries/record").body as object;
const destinationId = "dst_4k2v8m1n0p3q5r7s";
const BILLING = { id: destinationId, name: "Billing", settings: { urls: [{ url: "https://a.example/hook" }] } };
const NAMED = {
  ...eventPage.live,
  "GET /v1/destinations": {
    body: { data: [BILLING], nextCursor: null, asOf: null, complete: true },
  },
};
const withBody = (body: string) => ({
  ...NAMED,
  "GET /v1/deliveries/record": { body: { ...RECORD, body, rest: null } },
});
const bodies = (operation: string) =>
  control.requests.filter((each) => each.operation === operation).map(({ body }) => body);

startConsole();

describe("an event", () => {
  it("is sent once more to one destination, and what the receiver said stands beside it", async () => {
    const again = { replayId: "rsd_1", copyWaits: true };
    const page = await visit(eventPage.path, {
      ...NAMED,
      "POST /v1/deliveries/resend": { status: 202, body: again },
      "GET /v1/deliveries": ({ query }) => {
        const { body } = exampleOf("GET /v1/deliveries") as { body: { data: readonly object[] } };
        const [first] = body.data;
        const urls = [{ url: "https://a.example/hook", status: 200, error: null, durationMs: 5, answer: "ok" }];
        const its = { ...first, replayId: "rsd_1", outcome: "delivered", urls };
        return { body: { ...body, data: query.get("replayId") === "rsd_1" ? [its] : [] } };
      },
    });
    await page.getByRole("button", { name: "Send once more to Billing" }).click();
    await page.getByText("200: it was taken by hand, by admin.").waitFor();
    await page.getByText("A copy that waits for a retry stays").waitFor();
    expect(bodies("POST /v1/deliveries/resend")).toEqual([
      { messageId: "message-7", destinationId, sourceId: "src_4k2v8m1n0p3q5r7s" },
    ]);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("has its payload, attempts and timeline behind tabs, and reads the payload once it is looked at", async () => {
    const page = await visit(eventPage.path, withBody('{"userId":"ada"}'));
    const reads = () => control.requests.filter(({ operation }) => operation === "GET /v1/deliveries/record");
    const tabs = page.getByRole("tab");
    await poll(() => tabs.allInnerTexts()).toEqual(["Payload", "Attempts", "Timeline"]);
    await page.getByText("attempt 1: rejected").waitFor();
    expect(reads()).toEqual([]);
    await page.getByRole("tab", { name: "Payload" }).click();
    await page.getByRole("tabpanel").getByText('"ada"').waitFor();
    expect(reads().map(({ query }) => query.get("destinationId"))).toEqual([destinationId]);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("End");
    await page.getByRole("tabpanel").getByText("the call was accepted").waitFor();
  });

  it("says why it was not sent again", async () => {
    const refused = problem(409, "its record is past its retention, so that nothing is left to send");
    const page = await visit(eventPage.path, { ...NAMED, "POST /v1/deliveries/resend": refused });
    await page.getByRole("button", { name: "Send once more to Billing" }).click();
    await page.getByText("its record is past its retention").waitFor();
  });

  it("shows its request pretty and raw, with a line for curl that holds no secret", async () => {
    const page = await visit(eventPage.path, withBody('{"userId":"ada","n":[1,true]}'));
    const opener = page.getByRole("button", { name: "Request to Billing" });
    await opener.click();
    // The receiver's answer stands in one too.
    const body = page.locator("pre", { hasText: "userId" });
    await body.waitFor();
    expect(await body.innerText()).toBe('{\n  "userId": "ada",\n  "n": [\n    1,\n    true\n  ]\n}');
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("radio", { name: "Raw" }).click();
    await poll(() => body.innerText()).toBe('{"userId":"ada","n":[1,true]}');
    await page.getByRole("button", { name: "Copy the request as curl" }).click();
    await poll(() => copiedOn(page)).toContain("curl -X POST 'https://billing.example/hook'");
    expect(await copiedOn(page)).toContain('-hmac "$SHARED_SECRET"');
    await expectSound(page);
    await opener.press("Enter");
    await page.getByRole("radio", { name: "Raw" }).waitFor({ state: "detached" });
  });

  it("cuts a long body where it is shown, and offers all of it", async () => {
    const page = await visit(eventPage.path, withBody(JSON.stringify({ text: "x".repeat(100_000) })));
    await page.getByRole("button", { name: "Request to Billing" }).click();
    await page.getByText("Cut after 65,536 characters").waitFor();
    await page.getByRole("button", { name: "Download" }).waitFor();
  });

  it("says that its record is gone", async () => {
    const page = await visit(eventPage.path, {
      ...NAMED,
      "GET /v1/deliveries/record": problem(404, "the record of message-7 is past its retention"),
    });
    await page.getByRole("button", { name: "Request to Billing" }).click();
    await page.getByText("is past its retention").waitFor();
  });
});
