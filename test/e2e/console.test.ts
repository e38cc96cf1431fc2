/** A person at the console, in a real browser, against a whole installation. */

import { randomBytes } from "node:crypto";
import { CHROMIUM, provideProgram } from "@posthaste/testkit/debian-program";
import { eventually } from "@posthaste/testkit/eventually";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBadUrls } from "./bad-urls.ts";
import { type Browser, startBrowser } from "./browser.ts";
import { sendBatch, sendOne } from "./calls.ts";
import { type ConsoleFlow, expectNothingSideways, expectSound, openConsole } from "./console-flow.ts";
import type { Installation } from "./installation.ts";
import { INVITATIONS, nextStreamEnd, pasteAnywhere, revoke, takeTokenForTerminal } from "./invitation.ts";
import { pagesLeftOut, secretsShown } from "./known-secrets.ts";
import { createRoute, firstAttempts, messageIdsOf, type Route, untilAllHave, untilKnown } from "./route.ts";
import { createStrictReceiver } from "./strict-receiver.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const ARRIVAL = { timeoutMs: 60_000 };
const POLL = { timeout: 60_000 };
const NO_ROUTE: Route = { writeKey: "", sourceId: "", destinationId: "", sharedSecret: "", path: "" };

const found = await provideProgram(CHROMIUM, process.env);
if ("missing" in found) process.stdout.write(`the console's stories are skipped: ${found.missing}\n`);

describe.skipIf("missing" in found)("a person at the console", () => {
  useInstallation();
  let browser: Browser;

  beforeAll(async () => {
    if ("missing" in found) return;
    browser = await startBrowser(found.path);
  });

  afterAll(async () => browser.close());

  const requestsOf = (route: Route) => receiver.requestsTo(route.path);

  describe("the way from nothing to the first event delivered", () => {
    it.each([
      ["by mouse", 1280, false],
      ["by Enter alone", 1280, true],
      ["on a phone", 360, false],
    ])("takes the sign-in link, five steps and no typed field %s", async (way, width, hasKeysAlone) => {
      await removeDestinations(installation);
      const beganAtMs = performance.now();
      const flow = await openConsole(browser, installation, { width });
      const { page } = flow;
      const go = async (target: Locator, hasFocus = target): Promise<void> => {
        await target.waitFor();
        await expectNothingSideways(page);
        await (hasKeysAlone ? flow.enterThere(hasFocus) : flow.click(target));
      };
      const url = page.getByLabel("URL 1");
      await go(page.getByRole("link", { name: "Connect a webhook" }));
      await go(page.getByRole("link", { name: "Webhooks" }));
      await go(page.getByRole("button", { name: "Use the test receiver" }), url);
      await expect.poll(() => url.inputValue()).toContain("/receive/rcv_");
      await go(page.getByRole("button", { name: "Save and turn on" }));
      // On a person's machine it is known to all within the second that the page waits.
      await page.getByRole("button", { name: "Send a sample event" }).waitFor();
      const savedAtMs = performance.now();
      await untilAllHave(installation);
      const knownAfterMs = performance.now() - savedAtMs;
      await go(page.getByRole("button", { name: "Send a sample event" }));
      const first = page.getByRole("region", { name: "First event" });
      await first.getByText(/Delivered$/).waitFor();
      tell(`the first event ${way}`, performance.now() - beganAtMs - knownAfterMs);
      expect(flow.steps()).toBe(5);
      for (const step of ["received", "attempt"]) await first.getByText(step, { exact: true }).waitFor();
      await expectNothingSideways(page);
      expect(flow.faults()).toEqual([]);
      await page.context().close();
    });
  });

  it("comes with a URL of one's own to the first event, after eight that each say what to change", async () => {
    await removeDestinations(installation);
    const [bad, sources] = await Promise.all([startBadUrls(receiver), countSources(installation)]);
    const flow = await openConsole(browser, installation);
    const { page, click } = flow;
    const url = page.getByLabel("URL 1");
    await click(page.getByRole("link", { name: "Connect a webhook" }));
    await click(page.getByRole("link", { name: "Webhooks" }));
    await url.waitFor();
    for (const [address, says] of bad.cases) {
      await url.fill(address);
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByText(says).first().waitFor();
    }
    await bad.close();
    await url.fill("ftp://shop.example/hook");
    await page.getByRole("button", { name: "Save and turn on" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await expectSound(page);
    await url.clear();
    await flow.paste(`${receiver.url}/own`);
    await click(page.getByRole("button", { name: "Save and turn on" }));
    await page.getByRole("button", { name: "Send a sample event" }).waitFor();
    await untilAllHave(installation);
    await click(page.getByRole("button", { name: "Send a sample event" }));
    await page
      .getByRole("region", { name: "First event" })
      .getByText(/Delivered$/)
      .waitFor();
    // The link is the first.
    expect(1 + flow.steps()).toBe(6);
    expect(messageIdsOf(receiver.requestsTo("/own")).size).toBe(1);
    // The source that was made before the destination was refused was used again.
    expect(await countSources(installation)).toBe(sources + 1);
    expect(flow.faults()).toEqual([]);
  });

  it("is told why an event did not arrive: by a sign-in link, a key, a paste and Enter", async () => {
    const route = await createRoute(installation, receiver, "/refusing");
    receiver.script(route.path, { status: 400 });
    const { ingestUrl } = installation.system;
    const call = { type: "track", userId: "ada", event: "Refused", messageId: "refused-0123456789" };
    expect(await sendOne(ingestUrl, route.writeKey, call)).toBe(200);
    const verdictOf = async () =>
      (await installation.control.call("GET", `/v1/events/${call.messageId}`)) as { readonly cause: string };
    await eventually(async () => expect((await verdictOf()).cause).toBe("dead_letter"), ARRIVAL);

    const { page, press, paste, faults } = await openConsole(browser, installation);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await press("/");
    await page.getByRole("dialog", { name: "Search" }).locator("input:focus").waitFor();
    await paste(call.messageId);
    await press("Enter");
    await page
      .getByText(/^Not delivered/)
      .first()
      .waitFor();
    await page.getByText("attempt 1: permanent").waitFor();
    await page.reload();
    await page
      .getByText(/^Not delivered/)
      .first()
      .waitFor();
    expect(faults()).toEqual([]);
  });

  describe("dead letters whose receiver was mended", () => {
    /** At ten a second so many last until a page on a busy machine was opened and had its Pause pressed. */
    const LETTERS = 150;
    let [mended, other] = [NO_ROUTE, NO_ROUTE];

    beforeAll(async () => {
      mended = await createRoute(installation, receiver, "/mended");
      other = await createRoute(installation, receiver, "/other");
      for (const { path, writeKey } of [mended, other]) {
        receiver.script(path, { status: 400 });
        const batch = Array.from({ length: LETTERS }, (_, n) => ({
          ...{ type: "track", event: "Ordered", userId: `user-${n}`, messageId: `${path}-${n}` },
        }));
        expect(await sendBatch(installation.system.ingestUrl, writeKey, batch)).toBe(200);
      }
      for (const route of [mended, other]) {
        await eventually(() => expect(firstAttempts(requestsOf(route))).toHaveLength(LETTERS), ARRIVAL);
        receiver.script(route.path, { status: 200 });
      }
    });

    const rowOf = ({ page }: ConsoleFlow, { path }: Route) =>
      page.getByRole("row", { name: new RegExp(`destination ${path} rejected by receiver`) });

    it("are counted and sent again in four steps; a reload and a restart of control lose nothing", async () => {
      const flow = await openConsole(browser, installation);
      const { page, click } = flow;
      await click(page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Dead letters" }));
      await click(rowOf(flow, mended).getByRole("link", { name: "Review and replay" }));
      await page.getByText(`dead letters to destination ${mended.path}`).waitFor();
      await page.getByRole("row", { name: `400 rejected by receiver track ${LETTERS}` }).waitFor();
      const steps = flow.steps();
      await click(page.getByRole("button", { name: "Send one first" }));
      await page.getByText("200: it was taken").waitFor();
      await page.getByLabel("Rate").selectOption("10");
      await page.getByText("about 15 s").waitFor();
      await click(page.getByRole("button", { name: `Replay ${LETTERS}` }));
      expect(flow.steps() - steps).toBe(2);
      expect(flow.steps()).toBeLessThanOrEqual(4);

      await page.waitForURL("**/replays/*");
      await page.getByRole("button", { name: "Pause", exact: true }).click();
      await stateOn(page, "paused").waitFor();
      const sent = firstAttempts(requestsOf(mended)).length - LETTERS;
      expect(sent).toBeLessThan(LETTERS);
      await page.reload();
      await stateOn(page, "paused").waitFor();
      const control = installation.system.process("control");
      await control.stop();
      await page.getByText("control does not answer").waitFor();
      await control.start();
      await page.locator("[data-state=error]").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Go on" }).click();
      await stateOn(page, "done").waitFor();
      await page.getByText("1 delivered since").waitFor();
      await page.getByText(`${LETTERS - 1} of ${LETTERS} sent`).waitFor();
      await expect.poll(() => deliveredOn(page), POLL).toBe(String(LETTERS - 1));
      // Each once more and no more than once: the one that went first was left out.
      expect(messageIdsOf(requestsOf(mended)).size).toBe(LETTERS);
      expect(firstAttempts(requestsOf(mended))).toHaveLength(2 * LETTERS);
      expect(firstAttempts(requestsOf(other))).toHaveLength(LETTERS);
      expect(flow.faults()).toEqual([]);
    });

    it("are sent again by the keyboard alone, at 360 pixels", async () => {
      const sentToMended = firstAttempts(requestsOf(mended)).length;
      const flow = await openConsole(browser, installation, { width: 360 });
      const { page, press } = flow;
      await press("g x");
      await flow.goToRow(rowOf(flow, other));
      await expectNothingSideways(page);
      await page.keyboard.press("ArrowRight");
      await press("Enter");
      await page.getByText(`dead letters to destination ${other.path}`).waitFor();
      await expectNothingSideways(page);
      await flow.enter(page.getByRole("button", { name: `Replay ${LETTERS}` }));
      expect(flow.steps()).toBeLessThanOrEqual(4);
      await stateOn(page, "done").waitFor();
      await expectNothingSideways(page);
      await expect.poll(() => deliveredOn(page), POLL).toBe(String(LETTERS));
      expect(messageIdsOf(requestsOf(other)).size).toBe(LETTERS);
      const firsts = [other, mended].map((route) => firstAttempts(requestsOf(route)).length);
      expect(firsts).toEqual([2 * LETTERS, sentToMended]);
      expect(flow.faults()).toEqual([]);
    });
  });

  it.each([
    ["by mouse", 1280, false],
    ["by the keyboard alone, on a phone", 360, true],
  ])(
    "rotates a secret in four steps at 50 requests a second %s, and no signature is bad",
    async (_, width, hasKeysAlone) => {
      const { control, system } = installation;
      const route = await createRoute(installation, receiver, `/strict-${width}`);
      const { sharedSecret: old } = route;
      await control.call("PATCH", `/v1/destinations/${route.destinationId}`, { settings: { standardWebhooks: true } });
      const strict = createStrictReceiver({ standard: old, plain: [old] });
      receiver.script(route.path, strict.answer);
      await untilKnown(installation);
      const answers: Promise<void>[] = [];
      const sending = setInterval(() => {
        const n = answers.length;
        const call = { type: "track", userId: `user-${n % 10}`, event: "Ordered", messageId: `strict-${width}-${n}` };
        // As a real client does, until it is answered.
        answers.push(
          eventually(async () => expect(await sendOne(system.ingestUrl, route.writeKey, call)).toBe(200), ARRIVAL),
        );
      }, 1000 / 50);
      const someMoreBy = async (secret: string) => {
        const before = strict.inARow(secret);
        await eventually(() => expect(strict.inARow(secret)).toBeGreaterThan(before + 50), ARRIVAL);
      };
      try {
        const flow = await openConsole(browser, installation, { width });
        const { page, steps, faults } = flow;
        const act = hasKeysAlone ? flow.enter : flow.click;
        await page.goto(`${system.controlUrl}/destinations/${route.destinationId}?tab=secret`);
        await act(page.getByRole("button", { name: "Rotate" }));
        const next = await page.getByText(/^[0-9a-f]{64}$/).innerText();
        strict.deploy({ standard: old, plain: [old, next] });
        await act(page.getByRole("button", { name: /^Check/ }));
        await page.getByText("The receiver accepts it.").waitFor();
        await act(page.getByRole("button", { name: "Switch", exact: true }));
        await page.getByRole("button", { name: "Retire the old secret" }).waitFor();
        await someMoreBy(next);
        strict.deploy({ standard: next, plain: [next] });
        await act(page.getByRole("button", { name: "Retire the old secret" }));
        await page.getByRole("button", { name: "Rotate" }).waitFor();
        await someMoreBy(next);
        expect([steps(), faults()]).toEqual([4, []]);
        await expect.poll(() => page.content()).not.toContain(next);
      } finally {
        clearInterval(sending);
      }
      await Promise.all(answers);
      await eventually(
        () => expect(messageIdsOf(requestsOf(route)).size).toBeGreaterThanOrEqual(answers.length),
        ARRIVAL,
      );
      expect(strict.refused).toEqual([]);
    },
  );

  it("sees no secret on any page, nor does the browser keep or get one", async () => {
    const { control, system } = installation;
    const { destinationId, sourceId, sharedSecret, path, writeKey } = await createRoute(
      installation,
      receiver,
      "/kept",
    );
    const [next, header] = [randomBytes(32).toString("hex"), randomBytes(16).toString("hex")];
    const urls = [{ url: `${receiver.url}${path}`, headers: { "X-Api-Key": header } }];
    await control.call("PATCH", `/v1/destinations/${destinationId}`, { settings: { urls } });
    await control.call("POST", `/v1/destinations/${destinationId}/secret/next`, { sharedSecret: next });
    await untilKnown(installation);
    receiver.script(path, { status: 400, body: "no" });
    const call = { type: "track", userId: "ada", event: "Kept", messageId: "kept-0123456789" };
    expect(await sendOne(system.ingestUrl, writeKey, call)).toBe(200);
    const planned = (await eventually(async () => {
      const plan = await control.call("POST", "/v1/dead-letters/replay", { destinationId, dryRun: true });
      expect(plan).toMatchObject({ matched: 1 });
      return plan;
    }, ARRIVAL)) as { readonly plan: string };
    const made = async (made: string, body: object) =>
      ((await control.call("POST", `/v1/${made}`, body)) as { readonly id: string }).id;
    const replay = await made("dead-letters/replay", { plan: planned.plan });
    const audience = await made("audiences", { name: "Kept", sourceId });
    const deletion = await made("deletions", { userId: "ada", sourceIds: [sourceId] });
    await made("test-receivers", {});
    expect(requestsOf({ ...NO_ROUTE, path })[0]?.headers["x-api-key"]).toBe(header);

    const addresses = [
      ...["/overview", "/connect?kind=webhook", `/connect/${destinationId}`, "/test-receivers", "/sources"],
      ...[`/sources/${sourceId}`, "/destinations", "/deliveries", `/events/${call.messageId}`, "/dead-letters"],
      ...["health", "deliveries", "settings", "secret", "changes"].map(
        (tab) => `/destinations/${destinationId}?tab=${tab}`,
      ),
      ...[`/dead-letters/letters?destinationId=${destinationId}`, `/replay?destinationId=${destinationId}&again=true`],
      ...[`/replays/${replay}`, "/audiences", `/audiences/${audience}`, "/deletions", `/deletions/${deletion}`],
      ...["/activity", "/access"],
    ];
    expect(await pagesLeftOut(addresses)).toEqual([]);
    const { page, faults } = await openConsole(browser, installation);
    const [session] = await page.context().cookies();
    const secrets = { ...{ sharedSecret, next, header }, token: system.adminToken, session: session?.value ?? "" };
    expect(Object.values(secrets).filter((secret) => secret.length < 16)).toEqual([]);
    expect(await secretsShown(page, { addresses, secrets })).toEqual([]);
    const file = await fetch(`${system.controlUrl}/v1/dead-letters/export?format=csv`, {
      headers: { authorization: `Bearer ${system.adminToken}` },
    });
    const exported = await file.text();
    expect(exported).toContain(call.messageId);
    expect(Object.values(secrets).filter((secret) => exported.includes(secret))).toEqual([]);
    expect(faults()).toEqual([]);
  });

  describe("a second engineer", () => {
    let shared = NO_ROUTE;
    const SENT = { type: "track", userId: "ada", event: "Ordered", messageId: "invited-0123456789" };

    beforeAll(async () => {
      shared = await createRoute(installation, receiver, "/shared");
      expect(await sendOne(installation.system.ingestUrl, shared.writeKey, SENT)).toBe(200);
      await eventually(() => expect(receiver.requestsTo("/shared")).toHaveLength(1), ARRIVAL);
    });

    it.each(INVITATIONS)(
      "is invited %s in four steps, reads in two, and is shut out at once",
      async (way, width, invite) => {
        const name = `Shared ${way}`;
        await installation.control.call("PATCH", `/v1/destinations/${shared.destinationId}`, { name });
        const inviter = await openConsole(browser, installation, { width });
        await invite(inviter);
        const link = await inviter.page.getByRole("dialog", { name: "For dana" }).locator("code").innerText();
        expect(inviter.steps()).toBe(4);
        await expectSound(inviter.page);
        await inviter.page.keyboard.press("Escape");

        const invited = await openConsole(browser, installation, { width, link });
        await invited.page.getByText(`changed ${name}`).waitFor();
        await expectSound(invited.page);
        await pasteAnywhere(invited, SENT.messageId);
        await invited.page
          .getByText(/^Delivered/)
          .first()
          .waitFor();
        // The link is the first.
        expect(1 + invited.steps()).toBe(2);
        tell(`an invited person reads ${way}`, invited.elapsedMs());
        await expectSound(invited.page);
        const token = await takeTokenForTerminal(invited);

        const ask = () =>
          fetch(`${installation.system.controlUrl}/v1/status`, { headers: { authorization: `Bearer ${token}` } });
        expect((await ask()).status).toBe(200);
        const streamEnd = nextStreamEnd(invited.page);
        await revoke(inviter);
        const revokedAtMs = performance.now();
        expect((await ask()).status).toBe(401);
        tell(`a revoked token's stream ends`, (await streamEnd) - revokedAtMs);
        await invited.page.getByRole("link", { name: "Overview" }).press("Enter");
        await invited.page.getByRole("dialog", { name: "Your session is over" }).waitFor();
        expect([inviter.faults(), invited.faults()]).toEqual([[], []]);
        await Promise.all([inviter, invited].map(({ page }) => page.context().close()));
      },
    );
  });
});

/** A figure: what it may be is judged where nothing else runs. */
function tell(what: string, ms: number): void {
  process.stdout.write(`${what}: ${(ms / 1000).toFixed(1)} s\n`);
}

/** The mark of a replay that stands so. */
function stateOn(page: Page, state: string): Locator {
  return page.getByText(new RegExp(`^\\S ${state}$`));
}

/** What a replay's page says of how many were delivered. */
function deliveredOn(page: Page): Promise<string> {
  return page.locator("dt", { hasText: "Delivered" }).locator("xpath=following-sibling::dd").innerText();
}

async function countSources({ control }: Installation): Promise<number> {
  const { data } = (await control.call("GET", "/v1/sources?limit=200")) as { readonly data: readonly unknown[] };
  return data.length;
}

/** So that the overview has nothing to show. */
async function removeDestinations(installation: Installation): Promise<void> {
  const { controlUrl, adminToken } = installation.system;
  const headers = { authorization: `Bearer ${adminToken}` };
  const listed = await fetch(`${controlUrl}/v1/destinations`, { headers });
  const { data } = (await listed.json()) as { readonly data: readonly { readonly id: string }[] };
  for (const { id } of data) {
    expect((await fetch(`${controlUrl}/v1/destinations/${id}`, { method: "DELETE", headers })).status).toBe(204);
  }
  await untilAllHave(installation);
}
