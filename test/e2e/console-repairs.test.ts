/** A person who mends and looks after an installation, at the console, against a whole installation. */
import { randomBytes } from "node:crypto";
import { eventually } from "@posthaste/testkit/eventually";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { isLong, rowsOf } from "../faults/form.ts";
import { sendBatch, sendOne } from "./calls.ts";
import { type ConsoleFlow, expectNothingSideways, openConsole } from "./console-flow.ts";
import { makeAccess, secretsKept, secretsShown, skippedPages } from "./known-secrets.ts";
import { createRoute, firstAttempts, messageIdsOf, NO_ROUTE, type Route, untilKnown } from "./route.ts";
import { createStrictReceiver } from "./strict-receiver.ts";
import { ARRIVAL, browser, hasNoBrowser, useConsole } from "./use-console.ts";
import { installation, receiver } from "./use-installation.ts";

const POLL = { timeout: 60_000 };
/** The pages that say something of secrets, tokens, links or headers. The long form looks at every page. */
const MAY_SHOW_SECRETS =
  /^\/(connect\/|events\/|replays\/|activity|access|test-receivers|destinations\/\w+\?tab=(?!health))/;

describe.skipIf(hasNoBrowser)("a person at the console", () => {
  useConsole();

  const requestsOf = (route: Route) => receiver.requestsTo(route.path);

  describe("dead letters whose receiver was mended", () => {
    const DEAD_LETTERS = 150;
    let [mended, other, endless] = [NO_ROUTE, NO_ROUTE, NO_ROUTE];

    beforeAll(async () => {
      mended = await createRoute(installation, receiver, "/mended");
      other = await createRoute(installation, receiver, "/other");
      endless = await createRoute(installation, receiver, "/endless");
      for (const { path, writeKey } of [mended, other, endless]) {
        receiver.script(path, { status: 400 });
        const batch = Array.from({ length: DEAD_LETTERS }, (_, n) => ({
          ...{ type: "track", event: "Ordered", userId: `user-${n}`, messageId: `${path}-${n}` },
        }));
        expect(await sendBatch(installation.system.ingestUrl, writeKey, batch)).toBe(200);
      }
      for (const route of [mended, other]) {
        await eventually(() => expect(firstAttempts(requestsOf(route))).toHaveLength(DEAD_LETTERS), ARRIVAL);
        receiver.script(route.path, { status: 200 });
      }
    });

    /**
     * Starts a replay behind which others wait for their turn (RR1 of replay-runner.ts); returns a function that ends
     * it.
     */
    const startEndless = async (): Promise<() => Promise<unknown>> => {
      const { control } = installation;
      const { destinationId } = endless;
      const plan = (await eventually(async () => {
        const planned = await control.call("POST", "/v1/replays", { destinationId, dryRun: true });
        expect(planned).toMatchObject({ matched: DEAD_LETTERS });
        return planned;
      }, ARRIVAL)) as { readonly plan: string };
      const asked = { plan: plan.plan, ratePerSecond: 0.001 };
      const { id } = (await control.call("POST", "/v1/replays", asked)) as { readonly id: string };
      const stateOf = () => control.call("GET", `/v1/replays/${id}`);
      await eventually(async () => expect(await stateOf()).toMatchObject({ state: "running" }), ARRIVAL);
      return () => control.call("POST", `/v1/replays/${id}/cancel`);
    };

    const rowOf = ({ page }: ConsoleFlow, { path }: Route) =>
      page.getByRole("row", { name: new RegExp(`destination ${path} rejected by receiver`) });

    it("are counted and sent again in four steps; a reload and a restart of control lose nothing", async () => {
      const flow = await openConsole(browser, installation);
      const { page, click } = flow;
      await click(page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Dead letters" }));
      await click(rowOf(flow, mended).getByRole("link", { name: "Review and replay" }));
      await page.getByText(`dead letters to destination ${mended.path}`).waitFor();
      await page.getByRole("row", { name: `400 rejected by receiver track ${DEAD_LETTERS}` }).waitFor();
      const steps = flow.steps();
      await click(page.getByRole("button", { name: "Send one first" }));
      await page.getByText("200: it was taken").waitFor();
      await page.getByLabel("Rate").selectOption("10");
      await page.getByText("about 15 s").waitFor();
      // It is not through before its Pause is pressed, however long the machine stands.
      const endEndless = await startEndless();
      await click(page.getByRole("button", { name: `Replay ${DEAD_LETTERS}` }));
      expect(flow.steps() - steps).toBe(2);
      expect(flow.steps()).toBeLessThanOrEqual(4);

      await page.waitForURL("**/replays/*");
      await page.getByRole("button", { name: "Pause", exact: true }).click();
      await stateOn(page, "paused").waitFor();
      await page.reload();
      await stateOn(page, "paused").waitFor();
      const control = installation.system.process("control");
      await control.stop();
      await page.getByText("control does not answer").waitFor();
      await control.start();
      await page.locator("[data-state=error]").waitFor({ state: "detached" });
      expect(firstAttempts(requestsOf(mended))).toHaveLength(DEAD_LETTERS + 1);
      await page.getByRole("button", { name: "Go on" }).click();
      await stateOn(page, "waiting for its turn").waitFor();
      await endEndless();
      await stateOn(page, "done").waitFor();
      await page.getByText("1 delivered since").waitFor();
      await page.getByText(`${DEAD_LETTERS - 1} of ${DEAD_LETTERS} sent`).waitFor();
      await expect.poll(() => deliveredOn(page), POLL).toBe(String(DEAD_LETTERS - 1));
      // Each once more and no more than once: the one that went first was left out.
      expect(messageIdsOf(requestsOf(mended)).size).toBe(DEAD_LETTERS);
      expect(firstAttempts(requestsOf(mended))).toHaveLength(2 * DEAD_LETTERS);
      expect(firstAttempts(requestsOf(other))).toHaveLength(DEAD_LETTERS);
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
      await flow.enter(page.getByRole("button", { name: `Replay ${DEAD_LETTERS}` }));
      expect(flow.steps()).toBeLessThanOrEqual(4);
      await stateOn(page, "done").waitFor();
      await expectNothingSideways(page);
      await expect.poll(() => deliveredOn(page), POLL).toBe(String(DEAD_LETTERS));
      expect(messageIdsOf(requestsOf(other)).size).toBe(DEAD_LETTERS);
      const firsts = [other, mended].map((route) => firstAttempts(requestsOf(route)).length);
      expect(firsts).toEqual([2 * DEAD_LETTERS, sentToMended]);
      expect(flow.faults()).toEqual([]);
    });
  });

  it.each(
    rowsOf(
      [
        ["by mouse", 1280, false],
        ["by touch of a phone's width", 360, false],
        ["by the keyboard alone, on a phone", 360, true],
      ],
      "by the keyboard alone, on a phone",
    ),
  )(
    "rotates a secret in four steps at 50 requests a second %s, and no signature is bad",
    async (_, width, hasKeysAlone) => {
      const { control, system } = installation;
      const name = `strict-${width}-${hasKeysAlone ? "keys" : "mouse"}`;
      const route = await createRoute(installation, receiver, `/${name}`);
      const { sharedSecret: old } = route;
      await control.call("PATCH", `/v1/destinations/${route.destinationId}`, { settings: { standardWebhooks: true } });
      const strict = createStrictReceiver({ standard: old, plain: [old] });
      receiver.script(route.path, strict.answer);
      await untilKnown(installation);
      const answers: Promise<void>[] = [];
      const sending = setInterval(() => {
        const n = answers.length;
        const call = { type: "track", userId: `user-${n % 10}`, event: "Ordered", messageId: `${name}-${n}` };
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
        await expectNothingSideways(page);
        await act(page.getByRole("button", { name: "Rotate" }));
        const next = await page.getByText(/^[0-9a-f]{64}$/).innerText();
        strict.deploy({ standard: old, plain: [old, next] });
        await act(page.getByRole("button", { name: /^Check/ }));
        await page.getByText("The receiver accepts it.").waitFor();
        await expectNothingSideways(page);
        await act(page.getByRole("button", { name: "Switch", exact: true }));
        await page.getByRole("button", { name: "Retire the old secret" }).waitFor();
        await expectNothingSideways(page);
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

  it("sees no secret on any page, nor does the browser, a topic or a log keep one", async () => {
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
    receiver.script(path, { status: 400, body: `no ${header}` });
    const call = { type: "track", userId: "ada", event: "Kept", messageId: "kept-0123456789" };
    expect(await sendOne(system.ingestUrl, writeKey, call)).toBe(200);
    const planned = (await eventually(async () => {
      const plan = await control.call("POST", "/v1/replays", { destinationId, dryRun: true });
      expect(plan).toMatchObject({ matched: 1 });
      return plan;
    }, ARRIVAL)) as { readonly plan: string };
    const made = async (made: string, body: object) =>
      ((await control.call("POST", `/v1/${made}`, body)) as { readonly id: string }).id;
    const replay = await made("replays", { plan: planned.plan });
    const audience = await made("audiences", { name: "Kept", sourceId });
    const deletion = await made("deletions", { userId: "ada", sourceIds: [sourceId] });
    await made("test-receivers", {});
    expect(requestsOf({ ...NO_ROUTE, path })[0]?.headers["x-api-key"]).toBe(header);

    const addresses = [
      ...["/overview", "/connect?kind=webhook", `/connect/${destinationId}`, "/test-receivers", "/sources"],
      ...[
        `/sources/${sourceId}`,
        "/destinations",
        "/deliveries",
        "/events?userId=ada",
        `/events/${call.messageId}`,
        "/dead-letters",
      ],
      ...["health", "deliveries", "settings", "secret", "changes"].map(
        (tab) => `/destinations/${destinationId}?tab=${tab}`,
      ),
      ...[`/dead-letters/letters?destinationId=${destinationId}`, `/replay?destinationId=${destinationId}&again=true`],
      ...[`/replays/${replay}`, "/audiences", `/audiences/${audience}`, "/deletions", `/deletions/${deletion}`],
      ...["/activity", "/access"],
    ];
    expect(await skippedPages(addresses)).toEqual([]);
    const access = await makeAccess(installation);
    const { page, faults } = await openConsole(browser, installation, { link: access.link });
    const [session] = await page.context().cookies();
    const ofAccess = { ...access.secrets, token: system.adminToken, session: session?.value ?? "" };
    const secrets = { sharedSecret, next, header, ...ofAccess };
    expect(Object.values(secrets).filter((secret) => secret.length < 16)).toEqual([]);
    const looked = isLong ? addresses : addresses.filter((address) => MAY_SHOW_SECRETS.test(address));
    expect(looked.length).toBeGreaterThan(8);
    expect(await secretsShown(page, { addresses: looked, secrets })).toEqual([]);
    const file = await fetch(`${system.controlUrl}/v1/dead-letters/export?format=csv`, {
      headers: { authorization: `Bearer ${system.adminToken}` },
    });
    const exported = await file.text();
    expect(exported).toContain(call.messageId);
    expect(Object.values(secrets).filter((secret) => exported.includes(secret))).toEqual([]);
    expect(exported).not.toContain(writeKey);
    const kept = await secretsKept(installation, { ...secrets, writeKey });
    // What ingest knows a source's calls by.
    expect(kept.found).toEqual(["writeKey in source-config"]);
    expect(kept.places).toEqual(
      expect.arrayContaining([
        ...["the log of ingest", "the log of router", "the log of delivery", "the log of control"],
        ...["destination-config", "tokens", "audit", "events", "deliveries", "attempts", "dead-letters", "replays"],
      ]),
    );
    expect(faults()).toEqual([]);
  });

  it("is told no write key where one may read alone, and every one where one may write", async () => {
    const { control } = installation;
    const { destinationId, sourceId, writeKey } = await createRoute(installation, receiver, "/keyed");
    const { link } = (await control.call("POST", "/v1/tokens", { name: "reader", scopes: ["read"], link: true })) as {
      readonly link: string;
    };
    const ofSource = `/sources/${sourceId}`;
    const addresses = ["/overview", "/sources", ofSource, `/destinations/${destinationId}?tab=settings`, "/activity"];
    const reader = await openConsole(browser, installation, { link });
    expect(await secretsShown(reader.page, { addresses, secrets: { writeKey } })).toEqual([]);
    const writer = await openConsole(browser, installation);
    expect(await secretsShown(writer.page, { addresses: [ofSource], secrets: { writeKey } })).toEqual([
      `writeKey in the page at ${ofSource}`,
      `writeKey in what control answered at ${ofSource}`,
    ]);
    expect([reader.faults(), writer.faults()]).toEqual([[], []]);
  });
});

/** The mark of a replay that stands so. */
function stateOn(page: Page, state: string): Locator {
  return page.getByText(new RegExp(`^\\S ${state}$`));
}

/** The number of delivered ones on a replay's page. */
function deliveredOn(page: Page): Promise<string> {
  return page.locator("dt", { hasText: "Delivered" }).locator("xpath=following-sibling::dd").innerText();
}
