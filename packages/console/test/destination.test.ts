/** The page of a destination: the rules of revised-draft.ts, secret-part.tsx and time-chart.tsx. */
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeRequest, problem } from "./fake-control.ts";
import { MOMENT } from "./pages/all-pages.ts";
import { control, poll, present, startConsole, visit } from "./started-console.ts";
import { axeFaults, copiedOn, expectNarrow, expectSound, hasLayout, rowsOf } from "./story.ts";

interface Configured {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
}

const DESTINATION = exampleOf("GET /v1/destinations/{id}").body as Configured & { readonly settings: object };
const destinationPath = `/destinations/${DESTINATION.id}`;
const settingsPath = `${destinationPath}?tab=settings`;

const sent = (operation: string) => control.requests.filter((each) => each.operation === operation);
const bodies = (operation: string) => sent(operation).map(({ body }) => body);

startConsole();

describe("a destination", () => {
  it("is saved whole, with the values of headers that nobody sees", async () => {
    const settings = {
      ...DESTINATION.settings,
      urls: [{ url: "https://a.example/hook", headers: { "X-Team": "***" } }],
    };
    const page = await visit(settingsPath, { "GET /v1/destinations/{id}": { body: { ...DESTINATION, settings } } });
    await page.getByLabel("Requests a second at the most").fill("50");
    await page.getByRole("button", { name: "URL", exact: true }).click();
    await page.getByLabel("URL 2").fill("https://b.example/hook");
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await poll(() => bodies("PATCH /v1/destinations/{id}")).toMatchObject([
      {
        revision: DESTINATION.revision,
        settings: {
          rateLimitPerSecond: 50,
          urls: [
            { url: "https://a.example/hook", headers: { "X-Team": "***" } },
            { url: "https://b.example/hook", headers: {} },
          ],
        },
      },
    ]);
  });

  it("gets operational events in place of those of its sources", async () => {
    const page = await visit(settingsPath);
    const sources = page.getByRole("group", { name: "Sources" });
    await sources.getByText("Operations of Posthaste").click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await poll(() => bodies("PATCH /v1/destinations/{id}")).toMatchObject([{ sourceIds: ["src_operations"] }]);
  });

  it("TD3: keeps what was typed while another of its tabs is looked at", async () => {
    const page = await visit(settingsPath);
    await page.getByLabel("Requests a second at the most").fill("50");
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.getByText("Web shop → Shop").waitFor();
    await page.getByRole("tab", { name: "Settings" }).click();
    expect(await page.getByLabel("Requests a second at the most").inputValue()).toBe("50");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await poll(() => bodies("PATCH /v1/destinations/{id}")).toMatchObject([
      { revision: DESTINATION.revision, settings: { rateLimitPerSecond: 50 } },
    ]);
  });

  it("says at the field what control found wrong", async () => {
    const refused = problem(400, "settings.urls[0].url: expected an http or https URL");
    const body = typeof refused === "object" ? refused.body : {};
    const errors = [{ path: "settings.urls[0].url", message: "expected an http or https URL" }];
    const page = await visit(settingsPath, {
      "PATCH /v1/destinations/{id}": { status: 400, body: Object.assign({}, body, { errors }) },
    });
    await page.getByLabel("URL 1").fill("billing");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await poll(() => page.getByLabel("URL 1").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("URL 1").inputValue()).toBe("billing");
  });

  it("shows its settings, and none to change, to who may only read", async () => {
    const session = { name: "dana", tokenId: "tok_1", scopes: ["read"], expiresAt: null };
    const page = await visit(settingsPath, { "GET /v1/session": { body: session } });
    await page.getByText("These settings are to be read: your token has not the scope write.").waitFor();
    for (const field of [page.getByLabel("Name"), page.getByLabel("URL 1"), page.getByText("Enabled (takes effect")]) {
      expect(await field.evaluate((element) => element.closest("fieldset[disabled]") !== null)).toBe(true);
    }
    expect(await axeFaults(page)).toEqual([]);
    await expectSound(page);
    await page.getByRole("link", { name: "Destinations", exact: true }).first().click();
    const connect = page.getByRole("button", { name: "Connect a webhook" });
    await connect.waitFor();
    expect(await connect.getAttribute("aria-disabled")).toBe("true");
  });

  it("is turned off after it was said what becomes of what waits", async () => {
    const page = await visit(settingsPath);
    await page.getByText("Enabled (takes effect").click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const question = page.getByRole("dialog", { name: "Turn off Billing?" });
    await question.getByText("3 deliveries wait for it: they become dead letters").waitFor();
    await question.getByText("are not kept for it, and cannot be sent later. In the last hour it took 472.").waitFor();
    expect([await axeFaults(page), sent("PATCH /v1/destinations/{id}")]).toEqual([[], []]);
    await question.getByRole("button", { name: "Turn off" }).click();
    await poll(() => bodies("PATCH /v1/destinations/{id}")).toMatchObject([{ enabled: false }]);
  });

  it("tells of a test that it is of the settings before, once others are saved", async () => {
    const page = await visit(settingsPath, {
      "PATCH /v1/destinations/{id}": { body: { ...DESTINATION, revision: DESTINATION.revision + 1 } },
    });
    const tested = page.getByRole("region", { name: "Test" }).getByRole("status");
    await page.getByRole("button", { name: "Send a test by the saved settings" }).click();
    await tested.waitFor();
    expect(await tested.innerText()).not.toContain("Changed since");
    await page.getByLabel("Requests a second at the most").fill("50");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await tested.getByText("Changed since: send the test again.").waitFor();
    await tested.getByText("connection_refused, outdated").waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });

  it("tells of a test what each URL answered", async () => {
    const page = await visit(settingsPath);
    await page.getByRole("button", { name: "Send a test by the saved settings" }).click();
    await page.getByRole("region", { name: "Test" }).getByRole("status").waitFor();
    expect(bodies("POST /v1/destinations/{id}/test")).toEqual([{ type: "track" }]);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("SR1, SR2: gets another secret in stages, which is shown once", async () => {
    const at = (secretStage: string) => ({ body: { ...DESTINATION, secretStage } });
    const answered = (outcome: string, status: number) => ({
      body: {
        urls: [
          {
            ...{ url: "https://a.example/hook", outcome, status, error: null, durationMs: 5, answer: null },
            ...{ headers: { "X-Attempt": "1" }, body: "{}" },
          },
        ],
      },
    });
    const page = await visit(`${destinationPath}?tab=secret`, {
      "GET /v1/destinations/{id}": at("active"),
      "POST /v1/destinations/{id}/secret/next": at("next"),
      "POST /v1/destinations/{id}/secret/switch": at("switched"),
      "POST /v1/destinations/{id}/secret/retire": at("active"),
      "POST /v1/destinations/{id}/test": answered("delivered", 200),
    });
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByText("It is not shown again.").waitFor();
    const [named] = bodies("POST /v1/destinations/{id}/secret/next") as { readonly sharedSecret: string }[];
    const secret = named?.sharedSecret ?? "none";
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    await page.getByText(secret).waitFor();
    expect([await axeFaults(page), await page.getByRole("button", { name: "Rotate" }).count()]).toEqual([[], 0]);
    await page.getByRole("button", { name: "Switch all the same" }).waitFor();
    await expectNarrow(page);
    await page.getByRole("button", { name: /^Check/ }).click();
    await page.getByText("The receiver accepts it.").waitFor();
    expect(bodies("POST /v1/destinations/{id}/test")).toEqual([{ signWith: "next" }]);
    await page.getByRole("button", { name: "Switch", exact: true }).click();
    await page.getByRole("button", { name: "Retire the old secret" }).click();
    await page.getByRole("button", { name: "Rotate" }).waitFor();
    await poll(() => page.content()).not.toContain(secret);
    await expectSound(page);
  });

  it("SR2: whose stage was changed by somebody else says so, and shows what may be done now", async () => {
    let secretStage = "active";
    const page = await visit(`${destinationPath}?tab=secret`, {
      "GET /v1/destinations/{id}": () => ({ body: { ...DESTINATION, secretStage } }),
      "POST /v1/destinations/{id}/secret/next": () => {
        secretStage = "next";
        return problem(409, "there is a next secret already");
      },
    });
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByText("there is a next secret already").waitFor();
    await page.getByRole("button", { name: "Forget the next secret" }).waitFor();
  });

  /** A secret at that stage, and by operation how many hours ago it was done last. */
  const leftAt = (secretStage: string, hoursAgo: Readonly<Record<string, number>>) => {
    const [change] = (exampleOf("GET /v1/audit").body as { readonly data: readonly object[] }).data;
    return {
      "GET /v1/destinations/{id}": { body: { ...DESTINATION, secretStage } },
      "GET /v1/audit": ({ query }: FakeRequest) => {
        const hours = hoursAgo[query.get("operation") ?? ""];
        const time = new Date(present().getTime() - (hours ?? 0) * 3_600_000).toISOString();
        const data = hours === undefined ? [] : [{ ...change, time }];
        return { body: { nextCursor: null, asOf: null, complete: true, searchedTo: null, data } };
      },
    };
  };

  it("is reminded of once a day has passed since its rotation was begun and left", async () => {
    const page = await visit(destinationPath, leftAt("switched", { switchSecret: 27 }));
    await page.getByText("The old secret is kept beside the new one for 1 d 3 h.").waitFor();
    await page.getByRole("link", { name: "Retire it" }).click();
    await page.getByRole("button", { name: "Retire the old secret" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    control.answer(leftAt("switched", { switchSecret: 23 }));
    await page.reload();
    await page.getByRole("button", { name: "Retire the old secret" }).waitFor();
    await poll(() => control.requests.some(({ operation }) => operation === "GET /v1/audit")).toBe(true);
    expect(await page.getByText("The old secret is kept beside").count()).toBe(0);
  });

  it("is reminded of from when a switch was undone, however long ago its next secret was named", async () => {
    const undone = (hours: number) => leftAt("next", { nameNextSecret: 60, switchSecret: 50, undoRotation: hours });
    const page = await visit(destinationPath, undone(27));
    await page.getByText("The next secret is named and not switched to for 1 d 3 h.").waitFor();
    control.answer(undone(1));
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    const asked = () => control.requests.filter(({ query }) => query.get("operation") === "undoRotation").length;
    await poll(asked).toBeGreaterThan(0);
    expect(await page.getByText("The next secret is named and not").count()).toBe(0);
  });

  it("says on one line what it answers and the rest of why, its URLs short, in a title and copied whole", async () => {
    const [first, second] = ["a", "b"].map((name) => `https://acme.example/${"x".repeat(90)}/${name}`);
    const health = exampleOf("GET /v1/health/destinations/{id}").body as {
      readonly reason: object;
      readonly urls: readonly object[];
    };
    const gaveUp = { first: "2026-11-22T18:58:02.117Z", last: "2026-11-22T18:58:02.117Z" };
    const of = (others: object = {}) => ({
      "GET /v1/health/destinations/{id}": {
        body: {
          ...{ ...health, timeouts: 0.12, reason: { ...health.reason, url: second } },
          urls: [
            { ...health.urls[0], url: first, failures: [], breaker: "closed", openSince: null, nextProbe: null },
            { ...health.urls[0], url: second },
          ],
          ...others,
        },
      },
    });
    // The examples are of that moment.
    const page = await visit(destinationPath, of(), {
      ...{ isOwn: true, prepare: ({ clock }) => clock.setFixedTime(MOMENT) },
    });
    const why = page.getByRole("region", { name: "Now" }).getByText("503 from");
    expect(await why.innerText()).toBe(
      "503 from https://acme.example/xxxxxxxxxx…xxxxxx/b (URL 2 of 2) · timeouts 12 % of 5 m · " +
        "next retry 16:04:31 in 1 s · gives up 19:58:02–20:04:20",
    );
    const lines = () => why.evaluate((line) => line.getBoundingClientRect().height / 21);
    if (hasLayout(page)) expect(Math.round(await lines())).toBe(1);
    expect(await why.locator("code").getAttribute("title")).toBe(second);
    const urls = page.getByRole("region", { name: "URLs" });
    const rows = (await urls.getByRole("listitem").allInnerTexts()).map((row) => row.replace(/\s+/g, " "));
    expect(rows).toEqual([
      "URL 1 https://acme.example/xxxxxxxxxx…xxxxxx/a ● none failed in 1 h " +
        "● working, last 503 in 12.4 ms; 1 in flight",
      "URL 2 https://acme.example/xxxxxxxxxx…xxxxxx/b ■ 503 × 25, timeout × 3 in 1 h " +
        "■ paused by failures since 15:58:02, next probe 16:04:50, last 503 in 12.4 ms; 1 in flight",
    ]);
    await urls.getByRole("button", { name: "Copy the URL 2" }).click();
    await poll(() => copiedOn(page)).toBe(second);
    control.answer(of({ givesUp: gaveUp, nextRetry: null, state: "failing" }));
    await page.reload();
    await poll(() => why.innerText()).toMatch(/ of 5 m · gives up 19:58:02$/);
  });

  it("DG1: shows how it was over time, as a picture with its sentence and as a table", async () => {
    const nowMinute = Math.floor(present().getTime() / 60_000);
    const point = (minute: number, delivered: number) => ({
      time: new Date((nowMinute - minute) * 60_000).toISOString(),
      ...{ delivered, retryable: 2, permanent: 0, deferred: 0, p50Ms: null, p99Ms: 12.5, waiting: 3, inFlight: 1 },
    });
    const page = await visit(destinationPath, {
      "GET /v1/destinations/{id}/series": ({ query }) => ({
        body: {
          metric: query.get("metric"),
          step: "1m",
          data: [point(3, 90), point(2, 1200), point(1, 118)],
          asOf: null,
          complete: true,
        },
      }),
    });
    const said = "Attempts, 3 steps: delivered at most 1,200, last 118; retryable at most 2, last 2";
    await page.getByRole("img", { name: said }).locator("canvas").waitFor();
    await page.getByRole("img", { name: "p50 not known; p99 at most 12.5 ms" }).waitFor();
    const chart = page.getByRole("figure", { name: "Attempts" });
    await chart.getByRole("button", { name: "Show as table" }).click();
    await chart.getByRole("cell", { name: "1,200" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await expectNarrow(page);
    await page.getByRole("region", { name: "Over time" }).getByRole("combobox").selectOption("week");
    await poll(() => sent("GET /v1/destinations/{id}/series").map(({ query }) => query.get("step"))).toContain("1h");
  });

  it("has its deliveries under a tab, of it alone", async () => {
    const page = await visit(`${destinationPath}?tab=deliveries`);
    await rowsOf(page).first().waitFor();
    expect(sent("GET /v1/deliveries/latest")[0]?.query.get("destinationId")).toBe(DESTINATION.id);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("has its changes under a tab that stands in the address", async () => {
    const page = await visit(settingsPath);
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.getByText("changed Web shop").waitFor();
    expect(new URL(page.url()).search).toBe("?tab=changes");
    expect(sent("GET /v1/audit")[0]?.query.get("target")).toBe(DESTINATION.id);
    expect(await axeFaults(page)).toEqual([]);
  });
});
