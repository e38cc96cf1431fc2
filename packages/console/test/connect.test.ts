/** A webhook is connected: the rules of connect-form.tsx and url-fields.tsx, the form, its test, the first event. */
import { describe, expect, it } from "vitest";
import { exampleOf, type FakeRequest, problem } from "./fake-control.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, expectNarrow, expectSound, focusOf } from "./story.ts";

const FORM = "/connect?kind=Webhooks";
const CALLS = "GET /v1/sources/{id}/calls";
const MAKE = "POST /v1/destinations";
const TEST = "POST /v1/destinations/test";
const RECEIVER = exampleOf("POST /v1/test-receivers").body as { readonly id: string; readonly url: string };
const destination = exampleOf("GET /v1/destinations/{id}").body as { readonly sourceIds: readonly string[] };

const NO_SOURCES = {
  "GET /v1/sources": { body: { data: [], nextCursor: null, asOf: null, complete: true } },
};

startConsole();

const bodies = (operation: string) =>
  control.requests.filter((each) => each.operation === operation).map(({ body }) => body);

/** As control says that a setting is wrong. */
function wrong(path: string, message: string) {
  const refused = problem(400, "the settings are wrong");
  const { body } = refused as { readonly body: object };
  return { status: 400, body: { ...body, errors: [{ path, message }] } };
}

const SECRET = expect.stringMatching(/^[0-9a-f]{64}$/);

describe("a webhook", () => {
  it("is connected from nothing by Enter alone, with the test receiver and no typed field", async () => {
    const page = await visit("/connect", NO_SOURCES);
    await focusOf(page.getByLabel("URL 1"));
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await poll(() => page.getByLabel("URL 1").inputValue()).toBe(RECEIVER.url);
    await focusOf(page.getByRole("button", { name: "Save and turn on" }));
    await page.keyboard.press("Enter");
    await page.getByText("Waiting for the first event").waitFor();
    expect(bodies("POST /v1/sources")).toEqual([{ name: "My website", kind: "web" }]);
    expect(bodies(MAKE)).toMatchObject([
      {
        ...{ name: "Test receiver", enabled: true },
        settings: { settle: "any", sharedSecret: SECRET, urls: [{ url: RECEIVER.url }] },
      },
    ]);
    expect(bodies("PATCH /v1/test-receivers/{id}")).toEqual([{ destinationId: expect.stringMatching(/^dst_/) }]);
  });

  it("CO1: that is refused says so at the field, and its new source is made once", async () => {
    const refuse = ({ body }: FakeRequest) =>
      JSON.stringify(body).includes("https://")
        ? { status: 201, body: destination }
        : wrong("settings.urls[0].url", "expected http or https");
    const page = await visit(FORM, { ...NO_SOURCES, [MAKE]: refuse });
    await page.getByLabel("URL 1").fill("ftp://shop.example/hook");
    await page.getByRole("button", { name: "Save and turn on" }).click();
    await page.getByText("expected http or https").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByLabel("URL 1").fill("https://shop.example/hook");
    await page.getByRole("button", { name: "Save and turn on" }).click();
    await page.waitForURL("**/connect/dst_*");
    expect(bodies("POST /v1/sources")).toHaveLength(1);
    expect(bodies(MAKE)).toMatchObject([{ name: "shop.example" }, { name: "shop.example" }]);
  });

  it("gets operational events, of no source of one's own, and leads to its destination", async () => {
    const made = { ...destination, sourceIds: ["src_operations"], enabled: true };
    const page = await visit(FORM, { ...NO_SOURCES, [MAKE]: { status: 201, body: made } });
    await page.getByText("Operations of Posthaste").click();
    await page.getByText("It tells when another destination starts to fail").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByLabel("URL 1").fill("https://people.example/hook");
    await page.getByRole("button", { name: "Save and turn on" }).click();
    await page.waitForURL("**/destinations/dst_*");
    expect(bodies("POST /v1/sources")).toEqual([]);
    expect(bodies(MAKE)).toMatchObject([{ name: "people.example", sourceIds: ["src_operations"] }]);
  });

  it("is tried before it is saved, with the secret and the headers as they stand", async () => {
    const page = await visit(FORM);
    await page.getByLabel("URL 1").fill("https://shop.example/hook");
    await page.getByRole("button", { name: "Header" }).click();
    const header = page.getByRole("textbox", { name: "Header 1" });
    await header.fill("Host");
    await page.getByText("Host is set by the service and cannot be changed").waitFor();
    await header.fill("Authorization");
    await page.getByLabel("Value").fill("Bearer only-once\u2713");
    await page.getByText("Authorization has a value with a control character or one outside Latin-1").waitFor();
    await page.getByLabel("Value").fill("Bearer only-once");
    await page.getByRole("button", { name: "Header", exact: true }).click();
    await page.getByRole("textbox", { name: "Header 2" }).fill("authorization");
    await page.getByText("authorization is given twice").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Take away header 2" }).click();
    expect(await header.getAttribute("aria-invalid")).toBeNull();
    const secret = await page.locator("code", { hasText: /^[0-9a-f]{64}$/ }).innerText();
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByText("Nothing listens there").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await expectSound(page);
    expect(bodies("POST /v1/destinations/test")).toMatchObject([
      {
        settings: {
          sharedSecret: secret,
          urls: [{ url: "https://shop.example/hook", headers: { Authorization: "Bearer only-once" } }],
        },
      },
    ]);
    const url = page.getByLabel("URL 1");
    expect([await url.getAttribute("aria-invalid"), await page.getByText("Nothing listens there").count()]).toEqual([
      ...["true", 1],
    ]);
    await page.getByText("It answered nothing (connection_refused).").waitFor();
    await page.getByText("More: name, settling, body (shop.example; any one is enough; documented)").waitFor();
    await url.fill("https://shop.example/hook2");
    await poll(() => url.getAttribute("aria-invalid")).toBeNull();
    await url.fill("https://shop.example/hook");
    const held = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect([held.includes("shop.example"), held.includes(secret), held.includes("only-once")]).toEqual([
      ...[true, false, false],
    ]);
    await page.reload();
    await poll(() => page.getByLabel("URL 1").inputValue()).toBe("https://shop.example/hook");
  });

  it("has its URLs put in order by the keyboard, takes a source that is there, and is saved off", async () => {
    const page = await visit(FORM, { [MAKE]: { status: 201, body: { ...destination, enabled: false } } });
    await page.getByText("An existing source").click();
    await page.getByLabel("URL 1").fill("https://one.example");
    await page.getByRole("button", { name: "URL", exact: true }).click();
    await page.getByLabel("URL 2").fill("https://two.example");
    await page.getByRole("button", { name: "Before URL 1" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Sign each request").click();
    await page.getByRole("button", { name: "Save, off" }).click();
    await page.waitForURL("**/destinations/dst_*");
    expect(JSON.stringify(bodies(MAKE))).not.toContain("sharedSecret");
    expect(bodies("POST /v1/sources")).toEqual([]);
    expect(bodies(MAKE)).toMatchObject([
      {
        enabled: false,
        sourceIds: [expect.stringMatching(/^src_/)],
        settings: { urls: [{ url: "https://two.example" }, { url: "https://one.example" }] },
      },
    ]);
  });

  it("UF1: has a moved URL take the focus along, at each end too, and says where it is", async () => {
    const page = await visit(FORM);
    for (const [at, name] of ["one", "two", "three"].entries()) {
      if (at > 0) await page.getByRole("button", { name: "URL", exact: true }).click();
      await page.getByLabel(`URL ${at + 1}`, { exact: true }).fill(`https://${name}.example`);
    }
    const urls = () =>
      page
        .getByRole("textbox", { name: /^URL \d$/ })
        .evaluateAll((all) => all.map((field) => (field as HTMLInputElement).value));
    const said = (words: string) => page.getByRole("status").getByText(words).waitFor();
    await page.getByRole("button", { name: "Before URL 2" }).focus();
    await page.keyboard.press("Enter");
    await said("https://three.example is URL 2 of 3 now");
    await focusOf(page.getByRole("button", { name: "Before URL 1" }));
    await page.keyboard.press("Enter");
    await said("https://three.example is URL 1 of 3 now");
    expect(await urls()).toEqual(["https://three.example", "https://one.example", "https://two.example"]);
    // The first can go down alone.
    await focusOf(page.getByRole("button", { name: "After URL 2" }));
    for (const [after, place] of [
      ["After URL 3", 2],
      ["Before URL 2", 3],
    ] as const) {
      await page.keyboard.press("Enter");
      await said(`https://three.example is URL ${place} of 3 now`);
      await focusOf(page.getByRole("button", { name: after }));
    }
    expect(await urls()).toEqual(["https://one.example", "https://two.example", "https://three.example"]);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "URL 3", exact: true }).focus();
    await page.keyboard.press("Enter");
    await said("URL 3 is taken away");
    await focusOf(page.getByRole("button", { name: "URL", exact: true }));
    await page.getByRole("button", { name: "Header" }).last().click();
    await page.getByRole("button", { name: "Take away header 1" }).focus();
    await page.keyboard.press("Enter");
    await focusOf(page.getByRole("button", { name: "Header" }).last());
  });

  it("that is signed since, or is to get another body, leaves no answer of before as if it were of now", async () => {
    const [example] = (exampleOf(TEST).body as { readonly urls: readonly object[] }).urls;
    const page = await visit(FORM, {
      [TEST]: ({ body }) => {
        const { urls } = (body as { readonly settings: { readonly urls: readonly { readonly url: string }[] } })
          .settings;
        const took = { outcome: "delivered", status: 200, error: null };
        return { body: { urls: urls.map(({ url }, at) => ({ ...example, url, ...(at === 0 ? took : {}) })) } };
      },
    });
    await page.getByLabel("URL 1").fill("https://one.example");
    await page.getByRole("button", { name: "URL", exact: true }).click();
    await page.getByLabel("URL 2").fill("https://two.example");
    const answers = page.getByRole("complementary", { name: "Test and save" }).getByRole("listitem");
    const stands = async () => (await answers.allInnerTexts()).map((text) => text.split("\n")[0]);
    const send = async () => {
      await page.getByRole("button", { name: "Send test" }).click();
      await poll(stands).toEqual([
        expect.stringMatching(/^. ?200 8 ms https:\/\/one/),
        expect.stringMatching(/^. ?connection_refused 8 ms/),
      ]);
    };
    const before = [expect.stringContaining("200, outdated"), expect.stringContaining("outdated")];
    await send();
    await page.getByText("Sign each request").click();
    await poll(stands).toEqual(before);
    await page.getByText("Changed since: send the test again.").waitFor();
    await expectSound(page);
    // The field's message about the second is of before too.
    expect(await page.getByLabel("URL 2").getAttribute("aria-invalid")).toBeNull();
    await send();
    await page.getByText("More: name, settling, body").click();
    await page.getByRole("combobox", { name: "Body" }).selectOption("full");
    await poll(stands).toEqual(before);
    await send();
    await page.getByLabel("URL 2").fill("https://three.example");
    await poll(stands).toEqual([expect.stringMatching(/^. ?200 8 ms/), before[1]]);
  });

  it("says no more what was refused of a URL once another one stands there", async () => {
    const refused = wrong("settings.urls[0].url", "expected a full URL");
    const page = await visit(FORM, { [MAKE]: refused, [TEST]: refused });
    const field = page.getByLabel("URL 1");
    for (const name of ["Save and turn on", "Send test"]) {
      await field.fill("example.com/hook");
      await page.getByRole("button", { name }).click();
      await page.getByText("expected a full URL").waitFor();
      await field.fill("http://10.0.0.7/hook");
      await page.getByText("expected a full URL").waitFor({ state: "detached" });
      expect(await field.getAttribute("aria-invalid")).toBeNull();
    }
  });

  it("says why there is no test receiver", async () => {
    const page = await visit(FORM, { "POST /v1/test-receivers": problem(409, "test receivers are for local use") });
    await page.getByRole("button", { name: "Use the test receiver" }).click();
    await page.getByText("test receivers are for local use").waitFor();
  });
});

describe("the first event", () => {
  const verdict = exampleOf("GET /v1/events/{messageId}").body as { readonly cause: string };
  const DELIVERED = {
    ...{ ...verdict, cause: "delivered" },
    sentence: `Delivered: "Billing" took it. http://127.0.0.1:8090/receive/${"rcv_4k2v8m1n0p3q5r7s".repeat(3)}`,
    events: [
      {
        ...{ sourceId: "src_1", origin: null, type: "track", event: "Sample", userKey: "u", cause: "delivered" },
        ...{ sentence: "", command: null, pipeline: null, receivedAt: "2026-11-22T10:12:07.113Z", destinations: [] },
        ...{ deletion: null, sentByHand: [], delivered: null },
        timeline: [
          { time: "2026-11-22T10:12:07.113Z", what: "received", destinationId: null, detail: "ingest took the call" },
          { time: "2026-11-22T10:12:07.154Z", what: "attempt", destinationId: "dst_1", detail: "200" },
        ],
      },
    ],
  };

  it("is a sample that ingest refuses until it knows the key, and is shown on its way", async () => {
    let sent = 0;
    const sample = () => {
      sent += 1;
      const taken = sent >= 3;
      const status = taken ? 200 : 401;
      return { body: { messageId: `sample-${sent}`, type: "track", taken, status, code: null, message: null } };
    };
    const answers = { "POST /v1/sources/{id}/sample": sample, "GET /v1/events/{messageId}": { body: DELIVERED } };
    const page = await visit("/connect/dst_4k2v8m1n0p3q5r7s", answers, { isOwn: true });
    // It stands still from then on: it tries for five seconds of that.
    await page.clock.setFixedTime(Date.now());
    await page.getByRole("button", { name: "Send a sample event" }).click();
    const first = page.getByRole("region", { name: "First event" });
    await first.getByText('"Billing" took it.').waitFor();
    await first.getByText("+41 ms").waitFor();
    expect(sent).toBe(3);
    // Another one is sent by the key that sent the first.
    await first.locator("button:focus").getByText("Send another sample event").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "All about this event" }).and(page.locator("[href$=sample-4]")).waitFor();
    await first.getByText('"Billing" took it.').waitFor();
    expect(sent).toBe(4);
    // Where both are found later.
    const ways = page.getByRole("region", { name: "Send from your own program" });
    for (const [name, path] of [
      ["Billing", /^\/destinations\/dst_/],
      ["Web shop", /^\/sources\/src_/],
    ] as const) {
      expect(await ways.getByRole("link", { name }).getAttribute("href")).toMatch(path);
    }
    expect(await axeFaults(page)).toEqual([]);
    await expectNarrow(page);
  });

  it("is a call of the source itself, where one comes first", async () => {
    const calls = exampleOf("GET /v1/sources/{id}/calls").body as { readonly data: readonly object[] };
    const [call] = calls.data;
    const answers = {
      [CALLS]: {
        body: { ...calls, data: [{ ...call, time: "2099-01-01T00:00:00.000Z", messageIds: ["own-1"] }] },
      },
      "GET /v1/events/{messageId}": { body: DELIVERED },
    };
    const page = await visit("/connect/dst_4k2v8m1n0p3q5r7s", answers, {
      ...{ isOwn: true, prepare: ({ clock }) => clock.install() },
    });
    await page.getByText('"Billing" took it.').waitFor();
    // It has come: nobody asks for it any more.
    const asked = bodies(CALLS).length;
    for (let second = 0; second < 15; second += 1) await page.clock.runFor(1000);
    expect(bodies(CALLS)).toHaveLength(asked);
    await page.getByRole("link", { name: "All about this event" }).click();
    await page.waitForURL("**/events/own-1");
    await page.getByRole("heading", { name: "Timeline" }).waitFor();
  });

  it("leads to what the test receiver got, before it comes and after, whoever may see that", async () => {
    const settings = Object.assign({}, Object(destination).settings, { urls: [{ url: RECEIVER.url, headers: {} }] });
    const ONE = { "GET /v1/destinations/{id}": { body: { ...destination, settings } } };
    const page = await visit("/connect/dst_4k2v8m1n0p3q5r7s", {
      ...ONE,
      "GET /v1/events/{messageId}": { body: DELIVERED },
    });
    const link = page.getByRole("link", { name: "What the test receiver got" });
    await page.getByRole("region", { name: "Waiting" }).getByRole("link").and(link).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Send a sample event" }).click();
    await page.getByText('"Billing" took it.').waitFor();
    await link.click();
    await page.waitForURL(`**/test-receivers?id=${RECEIVER.id}`);
    const reader = { name: "dana", tokenId: "tok_1", scopes: ["read"], expiresAt: null };
    const other = await visit("/connect/dst_4k2v8m1n0p3q5r7s", { ...ONE, "GET /v1/session": { body: reader } });
    await other.getByText("Waiting for the first event").waitFor();
    expect(await other.getByRole("link", { name: "What the test receiver got" }).count()).toBe(0);
  });

  it("that is refused says why", async () => {
    const body = { messageId: "m", type: "track", taken: false, status: 503, code: "busy", message: "ingest is busy" };
    const page = await visit("/connect/dst_4k2v8m1n0p3q5r7s", { "POST /v1/sources/{id}/sample": { body } });
    await page.getByRole("button", { name: "Send a sample event" }).click();
    await page.getByText("It was not sent: ingest is busy.").waitFor();
  });
});
