/** Test receivers: the requests to one, its answers, and a control that has none. */
import { describe, expect, it } from "vitest";
import { exampleOf, problem } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults } from "./story.ts";

const OFF = {
  "GET /v1/test-receivers": problem(
    409,
    "test receivers are off: POSTHASTE_TEST_RECEIVER=true of control turns them on",
  ),
};
const RECEIVER = exampleOf("POST /v1/test-receivers").body as object;
const destination = exampleOf("GET /v1/destinations/{id}").body as object;

const bodies = (operation: string) =>
  control.requests.filter((each) => each.operation === operation).map(({ body }) => body);

startConsole();

describe("a test receiver", () => {
  it("is not offered where control has none, and the page says why", async () => {
    const page = await visit("/test-receivers", OFF);
    await page.getByText("Test receivers are off here").waitFor();
    expect(await page.getByRole("button", { name: "New test receiver" }).count()).toBe(0);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("shows what came with its body, and answers as it is told", async () => {
    const page = await visit("/test-receivers");
    await page.getByText("signature not checked").click();
    await page.locator("pre").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByLabel("It answers with").fill("503");
    await page.getByLabel("after (ms)").fill("1000");
    await page.keyboard.press("Enter");
    await page.getByText("It answers so from now on.").waitFor();
    expect(bodies("PATCH /v1/test-receivers/{id}")).toEqual([{ status: 503, delayMs: 1000 }]);
    // A later text is not set yet.
    await page.getByLabel("It answers with").fill("200");
    await poll(() => page.getByText("It answers so from now on.").count()).toBe(0);
  });

  it("says whose it is, and that it is no more where an address leads to one that control forgot", async () => {
    const own = { ...RECEIVER, destinationId: "dst_1" };
    const answers = {
      "GET /v1/test-receivers": { body: { data: [own] } },
      "GET /v1/destinations": { body: { data: [{ ...destination, id: "dst_1" }], nextCursor: null } },
    };
    const page = await visit("/test-receivers", answers);
    await page.getByRole("link", { name: "Billing" }).and(page.locator("[href='/destinations/dst_1']")).waitFor();
    await page.goto(`${new URL(page.url()).origin}/test-receivers?id=rcv_gone`);
    await page.getByText("This test receiver is no more").waitFor();
    expect(await page.getByLabel("It answers with").count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("list", { name: "All of them" }).getByRole("link", { name: "Billing" }).click();
    await page.getByLabel("It answers with").waitFor();
  });

  it("is not offered to whoever connects a webhook where control has none", async () => {
    const page = await visit("/connect?kind=Webhooks", OFF);
    await page.getByRole("button", { name: "Save and turn on" }).waitFor();
    expect(await page.getByRole("main").getByText("test receiver").count()).toBe(0);
    // Enter saves then, as in any form: control names the fault of an empty URL.
    await page.getByLabel("URL 1").press("Enter");
    await poll(() => bodies("POST /v1/destinations")).toHaveLength(1);
    expect(bodies("POST /v1/test-receivers")).toEqual([]);
  });
});
