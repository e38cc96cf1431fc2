/** How the first page comes: the rules of build/first-page.ts, and the content policy. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { CONTENT_POLICY } from "../../served/content-policy.ts";
import { overviewPage } from "../pages/overview.ts";
import { control, startConsole, takeFaults, visit } from "./started-browser.ts";

const STATUS = "GET /v1/status";
const EARLY = ["GET /v1/session", STATUS];

startConsole();

const asked = () => control.requests.map(({ operation }) => operation);

describe("the first page", () => {
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
});

describe("the content policy", () => {
  it("names the hash of the one style that stands in the page, and there is no other", async () => {
    const page = await visit("/access");
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    const styles = await page.evaluate(() =>
      [...document.querySelectorAll("style")].map(({ textContent }) => textContent),
    );
    expect(styles).toHaveLength(1);
    const hash = createHash("sha256")
      .update(styles[0] ?? "")
      .digest("base64");
    expect(CONTENT_POLICY).toContain(`style-src 'self' 'sha256-${hash}';`);
  });

  it("lets nothing be made markup that is a text", async () => {
    const page = await visit("/access");
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    const thrown = await page.evaluate(() => {
      try {
        document.createElement("div").innerHTML = "<b>x</b>";
        return "nothing was thrown";
      } catch (error) {
        return String(error);
      }
    });
    expect(thrown).toContain("TrustedHTML");
    expect(takeFaults()).toHaveLength(1);
  });
});
