/** The list of destinations with each one's hour, how a delivery is settled in a drawing, and the type of a test. */
import { describe, expect, it } from "vitest";
import { exampleOf, problem } from "./fake-control.ts";
import { destinationsPage } from "./pages/configuration.ts";
import { control, poll, startConsole, visit } from "./started-console.ts";
import { axeFaults, expectSound, focusOf, rowsOf } from "./story.ts";

const DESTINATION = exampleOf("GET /v1/destinations/{id}").body as { readonly id: string; readonly revision: number };
const HEALTH = "GET /v1/health/destinations";
const [listed] = (exampleOf("GET /v1/destinations").body as { readonly data: readonly { readonly id: string }[] }).data;

const NONE = { data: [], nextCursor: null, asOf: null, complete: true };

startConsole();

const sentTypes = (operation: string) =>
  control.requests
    .filter((each) => each.operation === operation)
    .map(({ body }) => (body as { readonly type?: unknown }).type);

describe("destinations", () => {
  it("have their last hour drawn, what failed on what was delivered, and said", async () => {
    const healths = exampleOf(HEALTH).body as { readonly data: readonly object[] };
    const of = (lastHour: object) => ({
      body: { ...healths, data: [{ ...healths.data[0], destinationId: listed?.id, lastHour }] },
    });
    const [delivered, failed] = [Array(12).fill(0), Array(12).fill(0)];
    const page = await visit("/destinations", {
      [HEALTH]: of({ delivered: delivered.with(0, 400).with(11, 72), failed: failed.with(0, 1).with(11, 27) }),
    });
    const hour = page.getByRole("img", { name: "the last hour by five minutes" });
    await hour.waitFor();
    expect(await hour.getAttribute("aria-label")).toBe(
      "the last hour by five minutes: 472 delivered, at most 400, 28 failed, at most 27",
    );
    const heights = await hour.locator("rect").evaluateAll((rects) => rects.map((rect) => rect.getAttribute("height")));
    expect([heights.length, heights.slice(0, 4), heights.slice(-2)]).toEqual([24, ["20", "1", "0", "0"], ["4", "1"]]);
    expect(await axeFaults(page)).toEqual([]);
    control.answer({ ...destinationsPage.live, [HEALTH]: of({ delivered, failed }) });
    await page.getByRole("img", { name: "the last hour by five minutes: none delivered, none failed" }).waitFor();
  });

  it("stand there whole with the worst first, and in the order of a heading that is pressed", async () => {
    const [example] = (exampleOf("GET /v1/destinations").body as { readonly data: readonly object[] }).data;
    const [health] = (exampleOf(HEALTH).body as { readonly data: readonly object[] }).data;
    const states = ["healthy", "open", "off", "failing", "healthy"];
    const of = (n: number) => ({ id: `dst_${n}`, name: `Shop ${9 - n}` });
    const page = await visit("/destinations", {
      "GET /v1/destinations": ({ query }) => {
        const from = Number(query.get("cursor") ?? 0);
        const data = [from, from + 1, from + 2].filter((n) => n < 5).map((n) => ({ ...example, ...of(n) }));
        return { body: { ...NONE, data, nextCursor: from === 0 ? "3" : null } };
      },
      [HEALTH]: {
        body: {
          ...NONE,
          data: states.map((state, n) => ({
            ...{ ...health, state, destinationId: `dst_${n}`, successOfHour: 1 - n / 10 },
            waiting: { total: n * n, inProcess: 0, deferred: 0, topics: [] },
          })),
        },
      },
    });
    const shown = async () =>
      (await rowsOf(page).allInnerTexts()).map((text) => /Shop (\d)/.exec(text)?.[1] ?? "").join("");
    await poll(shown).toBe("86759");
    const heading = (name: string) => page.getByRole("columnheader", { name });
    expect(await heading("State").getAttribute("aria-sort")).toBe("descending");
    for (const [name, order, direction, search] of [
      ["Name", "56789", "ascending", "?sort=name"],
      ["Name", "98765", "descending", "?sort=-name"],
      ["Success, 1 h", "56789", "descending", "?sort=failing"],
      ["Waiting", "56789", "descending", "?sort=waiting"],
      ["State", "86759", "descending", ""],
    ] as const) {
      await heading(name).getByRole("button").click();
      await poll(shown).toBe(order);
      expect(await heading(name).getAttribute("aria-sort")).toBe(direction);
      expect(new URL(page.url()).search).toBe(search);
    }
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "State: healthy, 2" }).click();
    await poll(shown).toBe("59");
  });

  it.each([
    ["/connect?kind=Webhooks", "More: name, settling, body"],
    [`/destinations/${DESTINATION.id}?tab=settings`, null],
  ])("show in a drawing when a delivery is settled: %s", async (path, folded) => {
    const page = await visit(path);
    if (folded !== null) await page.getByText(folded).click();
    const choice = page.getByLabel("Every URL gets each event. A delivery is settled");
    for (const [settle, said, answers] of [
      ["each", "an event goes to both URLs, and each of them has to take it", 2],
      ["any", "an event goes to both URLs, and one of their answers is enough", 1],
    ] as const) {
      await choice.selectOption(settle);
      const drawing = page.getByRole("img", { name: said });
      await drawing.waitFor();
      // Two arrows to the URLs, and a tick for each answer that it takes.
      const lines = await drawing.locator("path").evaluateAll((paths) => paths.map((path) => path.getAttribute("d")));
      expect([lines.length, lines.at(-1)?.split("l3 3l6 -7").length]).toEqual([3, answers + 1]);
      expect(await axeFaults(page)).toEqual([]);
    }
  });

  it.each([
    ["/connect?kind=Webhooks", "Send test", "POST /v1/destinations/test"],
    [`/destinations/${DESTINATION.id}`, "Send a test by the saved settings", "POST /v1/destinations/{id}/test"],
  ])("are tried with an event of the type that is chosen: %s", async (path, words, operation) => {
    const page = await visit(path);
    if (operation.includes("{id}")) await page.getByRole("button", { name: "Send test" }).click();
    const send = page.getByRole("button", { name: words });
    await send.click();
    await poll(() => sentTypes(operation)).toEqual(["track"]);
    await page.getByLabel("A made-up event of the type").selectOption("identify");
    await send.click();
    await poll(() => sentTypes(operation)).toEqual(["track", "identify"]);
  });

  it("are narrowed by how they are and by a part of their names", async () => {
    const page = await visit("/destinations?state=open", destinationsPage.live);
    const chip = page.getByRole("button", { name: "State: paused by failures, 1" });
    await chip.waitFor();
    expect(await chip.getAttribute("aria-pressed")).toBe("true");
    await page.getByText("billing.example/hook").waitFor();
    await chip.click();
    await page.waitForURL("**/destinations");
    await page.getByRole("button", { name: "Name", exact: true }).first().click();
    await page.getByRole("textbox", { name: "Name" }).fill("bill");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/destinations?name=bill");
    await page.getByText("billing.example/hook").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.goto(`${control.url}/destinations?name=else`);
    await page.getByText("No destination fits the filter.").waitFor();
    await page.getByRole("link", { name: "Show all" }).click();
    await page.getByText("billing.example/hook").waitFor();
  });
});

describe("a destination, beside its name whatever part is shown", () => {
  const [ONE, CHANGE] = ["GET /v1/destinations/{id}", "PATCH /v1/destinations/{id}"];
  const path = `/destinations/${DESTINATION.id}?tab=changes`;
  const changes = () => control.requests.filter(({ operation }) => operation === CHANGE).map(({ body }) => body);
  const { revision } = DESTINATION;
  const off = { ...DESTINATION, enabled: false, revision: revision + 1 };

  it("says how it is, and is turned off after it was said what becomes of what waits", async () => {
    const page = await visit(path, { [CHANGE]: { body: off } });
    await page.getByText("paused by failures").waitFor();
    await page.getByRole("button", { name: "Turn off" }).click();
    const question = page.getByRole("dialog", { name: "Turn off Billing?" });
    await question.getByText("3 deliveries wait for it: they become dead letters").waitFor();
    await question.getByRole("button", { name: "Leave it on" }).click();
    expect(changes()).toEqual([]);
    await page.getByRole("button", { name: "Turn off" }).click();
    await question.getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("button", { name: "Turn on" }).waitFor();
    expect(changes()).toEqual([{ revision, enabled: false }]);
    await page
      .locator("main")
      .getByText(/^\S off$/)
      .waitFor();
    await expectSound(page);
  });

  it("says since when it delivers again while it counts as failing, and replays nothing that was delivered", async () => {
    const one = `${HEALTH}/{id}`;
    const again = {
      ...{ ...(exampleOf(one).body as object), state: "failing", since: "2026-11-22T10:40:00.000Z", reason: null },
      ...{ deliversAgainSince: "2026-11-22T10:42:00.000Z", deadLetters: 0, deliveredSince: 12_340 },
    };
    const page = await visit(`/destinations/${DESTINATION.id}?tab=health`, { [one]: { body: again } });
    await page.getByText("over 5 % of the last five minutes failed; it has delivered again since").waitFor();
    await page.getByRole("link", { name: "0, 12,340 delivered since" }).waitFor();
    expect(await page.getByRole("link", { name: /^Replay/ }).count()).toBe(0);
    await expectSound(page);
  });

  it("is turned on by one press, and by another where somebody else changed it meanwhile", async () => {
    let present = { ...off, revision };
    const page = await visit(path, {
      [ONE]: () => ({ body: present }),
      [CHANGE]: ({ body }) => {
        const asked = (body as { readonly revision: number }).revision;
        if (asked === revision + 1) return { body: { ...present, enabled: true } };
        present = off;
        return problem(409, "it has another revision by now");
      },
    });
    const turnOn = page.getByRole("button", { name: "Turn on" });
    await turnOn.click();
    await page.getByText("it has another revision by now").waitFor();
    await poll(async () => {
      if (await turnOn.isVisible()) await turnOn.click();
      return changes().length > 1 && (await page.getByRole("button", { name: "Turn off" }).count());
    }).toBe(1);
    expect(changes().at(-1)).toEqual({ revision: revision + 1, enabled: true });
  });

  it("is tried in a dialog that tells what each URL answered", async () => {
    const page = await visit(path, {}, { width: 360 });
    await page.getByRole("button", { name: "Send test" }).click();
    const dialog = page.getByRole("dialog", { name: "Send a test to Billing" });
    await dialog.getByRole("button", { name: "Send a test by the saved settings" }).click();
    await dialog.getByRole("status").waitFor();
    await expectSound(page);
    await page.keyboard.press("Escape");
    await focusOf(page.getByRole("button", { name: "Send test" }));
  });

  it("has its new secret hidden when it was taken: it is on the page no more", async () => {
    const at = (secretStage: string) => ({ body: { ...DESTINATION, secretStage } });
    const page = await visit(`/destinations/${DESTINATION.id}?tab=secret`, {
      "GET /v1/destinations/{id}": at("active"),
      "POST /v1/destinations/{id}/secret/next": at("next"),
    });
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByText(/^[0-9a-f]{64}$/).waitFor();
    await page.locator("pre", { hasText: "NEXT_SHARED_SECRET" }).waitFor();
    await page.getByRole("button", { name: "I have it: hide it" }).click();
    await poll(() => page.getByText(/[0-9a-f]{64}/).count()).toBe(0);
    await page.getByRole("button", { name: /^Check/ }).waitFor();
  });

  it("shows the signature that a test had, to be compared", async () => {
    const operation = "POST /v1/destinations/{id}/test";
    const { urls } = exampleOf(operation).body as { readonly urls: readonly object[] };
    const signed = { ...urls[0], headers: { "X-Attempt": "1", "X-Signature": "0a1b2c" } };
    const page = await visit(path, { [operation]: { body: { urls: [signed] } } });
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByRole("button", { name: "Send a test by the saved settings" }).click();
    await page
      .getByRole("dialog")
      .locator("code", { hasText: /^0a1b2c$/ })
      .waitFor();
    await page.getByRole("button", { name: "Copy the signature" }).waitFor();
  });
});
