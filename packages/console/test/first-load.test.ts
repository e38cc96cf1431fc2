/** How the first page comes: the rules of build/first-page.ts, and SE3 of session.ts. */
import { describe, expect, it } from "vitest";
import { found } from "./browser.ts";
import { type FakeRequest, problem } from "./fake-control.ts";
import { overviewPage } from "./pages/overview.ts";
import { control, startConsole, visit } from "./started-console.ts";

const STATUS = "GET /v1/status";
const EARLY = ["GET /v1/session", STATUS];
const NOBODY = { "GET /v1/session": problem(401, "send the header Authorization: Bearer <token>") };

startConsole();

const asked = () => control.requests.map(({ operation }) => operation);

describe.skipIf("missing" in found)("the first page", () => {
  it("BG1: asks who is signed in, and how all is, before the console's script is there", async () => {
    const page = await visit("/activity");
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.goto("about:blank");
    const script = "**/assets/console-*.js";
    const { promise: held, resolve: hold } = Promise.withResolvers<() => Promise<void>>();
    await page.route(script, (route) => hold(() => route.continue()));
    control.answer(overviewPage.live);
    await page.goto(`${control.url}/overview`, { waitUntil: "commit" });
    await expect.poll(asked).toEqual(expect.arrayContaining(EARLY));
    expect(await page.getByRole("navigation", { name: "Pages" }).count()).toBe(0);
    await (await held)();
    await page.locator("main [data-state=live]").waitFor();
    await page.unroute(script);
    expect(asked().filter((each) => each === EARLY[0])).toHaveLength(1);
  });

  it("BG2: names every script that it loads", async () => {
    const page = await visit("/activity");
    // Scripts of that page may still be on their way.
    await page.goto("about:blank");
    const scripts: string[] = [];
    page.on("request", (request) => {
      if (request.resourceType() === "script") scripts.push(new URL(request.url()).pathname);
    });
    control.answer(overviewPage.live);
    await page.goto(`${control.url}/overview`);
    await page.locator("main [data-state=live]").waitFor();
    const named = await page.evaluate(async () => (await fetch("/")).text());
    expect(scripts.length).toBeGreaterThan(0);
    expect(scripts.filter((path) => !named.includes(`"${path}"`))).toEqual([]);
  });

  it("SE3: takes a refusal of what was asked for before somebody signed in for none of this session", async () => {
    const page = await visit("/overview", { ...NOBODY, [STATUS]: "pending" });
    await page.getByLabel("Token").fill("pht_right");
    await page.keyboard.press("Enter");
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    let first: FakeRequest | undefined;
    const refused = page.waitForResponse((response) => response.url().endsWith("/v1/status"));
    control.answer({
      ...overviewPage.live,
      [STATUS]: (request: FakeRequest) => {
        first ??= request;
        return request === first ? problem(401, "send the header") : {};
      },
    });
    expect((await refused).status()).toBe(401);
    await page.locator("main [data-state=live]").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});
