/** Requests from before somebody signed in: SE3 of session.ts. */
import { describe, expect, it } from "vitest";
import { type FakeRequest, problem } from "./fake-control.ts";
import { overviewPage } from "./pages/overview.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";

const STATUS = "GET /v1/status";
const NOBODY = { "GET /v1/session": problem(401, "send the header Authorization: Bearer <token>") };

startConsole();

describe("the first page", () => {
  it("SE3: takes a refusal of what was asked for before somebody signed in for none of this session", async () => {
    const page = await visit("/overview", { ...NOBODY, [STATUS]: "pending" });
    await page.getByLabel("Token").fill("pht_right");
    await page.keyboard.press("Enter");
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    let first: FakeRequest | undefined;
    control.answer({
      ...overviewPage.live,
      [STATUS]: (request: FakeRequest) => {
        first ??= request;
        return request === first ? problem(401, "send the header") : {};
      },
    });
    await poll(() => first).toBeDefined();
    await page.locator("main [data-state=live]").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});
