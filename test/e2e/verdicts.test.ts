/**
 * "Why did this event not arrive?", asked on the whole installation for every cause, of the API, of the page and of
 * the command line: all say the same, and the command ends as a script has to know it.
 */
import { VERDICT_CAUSES } from "@posthaste/core/verdict/verdict";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../faults/form.ts";
import { type Call, sendBatch, sendOne } from "./calls.ts";
import { openConsole } from "./console-flow.ts";
import { type Commands, posthaste as runPosthaste, startCommands } from "./posthaste.ts";
import { createRoute, type Route, untilKnown } from "./route.ts";
import { ARRIVAL, browser, hasNoBrowser, useConsole } from "./use-console.ts";
import { installation, receiver } from "./use-installation.ts";

useConsole();

interface Verdict {
  readonly cause: string;
  readonly sentence: string;
  readonly events: readonly { readonly destinations: readonly { readonly cause: string }[] }[];
}

/**
 * Of the arrived, the waiting, the given-up and the rejected events, one each: the page shows the sentence of any
 * cause.
 */
const SHOWN = ["v-delivered", "v-waits", "v-dead", "v-in-batch"];

/** By message id, in the order in which they were seeded: the cause that was found by the API. */
const found = new Map<string, string>();

const verdictOn = (messageId: string) =>
  installation.control.call("GET", `/v1/events/${encodeURIComponent(messageId)}`) as Promise<Verdict>;
const expectCause = (messageId: string, cause: string) =>
  eventually(async () => {
    expect({ messageId, cause: (await verdictOn(messageId)).cause }).toEqual({ messageId, cause });
    found.set(messageId, cause);
  }, ARRIVAL);

const trackOf = (messageId: string, differing: object = {}): Call => ({
  ...{ type: "track", userId: "ada", event: "Order Completed", messageId },
  ...differing,
});
const send = async (route: Pick<Route, "writeKey">, messageId: string, differing: object = {}, status = 200) =>
  expect(await sendOne(installation.system.ingestUrl, route.writeKey, trackOf(messageId, differing))).toBe(status);

describe("each cause is found by the API where the event", () => {
  it("arrived, came again, waits, was deferred, was given up, or arrived by another URL", async () => {
    const route = await createRoute(installation, receiver, "/verdicts");
    receiver.script("/verdicts-fails", { status: 503 });
    receiver.script("/verdicts-refuses", { status: 410 });
    await send(route, "v-delivered");
    await expectCause("v-delivered", "delivered");
    await send(route, "v-again");
    await expectCause("v-again", "delivered");
    await send(route, "v-again");
    await expectCause("v-again", "duplicate_of");

    const failing = await createRoute(installation, receiver, "/verdicts-fails");
    await send(failing, "v-waits");
    await expectCause("v-waits", "waiting_retry");
    // Behind so many failures the breaker is open, and nothing is sent at first.
    for (let index = 0; index < 40; index++) await send(failing, `v-fails-${index}`, { userId: `user-${index}` });
    const ids = Array.from({ length: 40 }, (_, index) => `v-fails-${index}`);
    await eventually(async () => {
      const another = `v-deferred-${ids.length}`;
      await send(failing, another, { userId: another });
      ids.push(another);
      const causes = await Promise.all(ids.map(async (id) => [id, (await verdictOn(id)).cause] as const));
      const deferred = causes.find(([, cause]) => cause === "deferred");
      expect(deferred).toBeDefined();
      if (deferred !== undefined) found.set(...deferred);
    }, ARRIVAL);

    const refusing = await createRoute(installation, receiver, "/verdicts-refuses");
    await send(refusing, "v-dead");
    await expectCause("v-dead", "dead_letter");

    const several = await createRoute(installation, receiver, "/verdicts-first");
    await installation.control.call("DELETE", `/v1/destinations/${several.destinationId}`);
    await installation.control.createDestination({
      ...{ name: "one of two", sourceIds: [several.sourceId], sharedSecret: several.sharedSecret },
      urls: [`${receiver.url}/verdicts-refuses`, `${receiver.url}/verdicts-first`],
    });
    await untilKnown(installation);
    await send(several, "v-elsewhere");
    await expectCause("v-elsewhere", "delivered_elsewhere");
  });

  it("became no delivery", async () => {
    const route = await createRoute(installation, receiver, "/verdicts-kept");
    await send(route, "v-kept-back", { integrations: { All: false } });
    await expectCause("v-kept-back", "integration_off");
    await installation.control.call("PATCH", `/v1/destinations/${route.destinationId}`, { enabled: false });
    await untilKnown(installation);
    await send(route, "v-off");
    await expectCause("v-off", "destination_off");
    expect((await verdictOn("v-off")).sentence).toMatch(/was off \(.* since .*, switched off by admin\)\. /);
    await installation.control.call("DELETE", `/v1/destinations/${route.destinationId}`);
    await untilKnown(installation);
    await send(route, "v-nowhere");
    await expectCause("v-nowhere", "no_destination");
    const deletion = { userId: "forgotten", sourceIds: [route.sourceId], suppress: true };
    await installation.control.call("POST", "/v1/deletions", deletion);
    await send(route, "v-suppressed", { userId: "forgotten" });
    await expectCause("v-suppressed", "suppressed");
  });

  it("was not accepted: alone, with its whole request, in a batch", async () => {
    const { ingestUrl } = installation.system;
    const route = await createRoute(installation, receiver, "/verdicts-refused");
    await send(route, "v-refused", { userId: undefined }, 400);
    await expectCause("v-refused", "refused");
    const response = await fetch(`${ingestUrl}/v1/track`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`${route.writeKey}:`).toString("base64")}`,
        "content-type": "application/json",
      },
      body: '{"messageId": "v-malformed", "userId": "ada",',
    });
    expect(response.status).toBe(400);
    await response.arrayBuffer();
    await expectCause("v-malformed", "refused");
    expect((await verdictOn("v-malformed")).sentence).toMatch(
      /^Not accepted: the whole request of .* was answered 400 /,
    );
    const batch = [trackOf("v-good"), trackOf("v-in-batch", { userId: undefined })];
    expect(await sendBatch(ingestUrl, route.writeKey, batch)).toBe(200);
    await expectCause("v-in-batch", "rejected_in_batch");
    await expectCause("v-good", "delivered");
  });

  it("is under way before the router, and before delivery, and where nobody knows it", async () => {
    const route = await createRoute(installation, receiver, "/verdicts-slow");
    const delivery = installation.system.process("delivery");
    await delivery.stop();
    await send(route, "v-at-delivery");
    await eventually(async () => {
      expect(await verdictOn("v-at-delivery")).toMatchObject({
        cause: "in_pipeline",
        events: [{ destinations: [{ destinationId: route.destinationId, pipeline: { before: "delivery" } }] }],
      });
    }, ARRIVAL);
    await delivery.start();
    await expectCause("v-at-delivery", "delivered");
    await installation.system.process("router").stop();
    await send(route, "v-at-router");
    await expectCause("v-at-router", "in_pipeline");
    await expectCause("v-never", "unknown");
  });

  it("is one of the closed list, of which none is left out", () => {
    // A lost event has its verdict in control's losses.test.ts, and its way on in lost-records.ts.
    const here = VERDICT_CAUSES.filter((cause) => cause !== "lost");
    expect([...new Set(found.values())].sort()).toEqual([...here].sort());
  });
});

/** The page's sentence, its moments as the API has them: the page tells them in the reader's zone. */
const SAID = `(() => {
  const main = document.querySelector("main").cloneNode(true);
  for (const time of main.querySelectorAll("time")) time.replaceWith(time.dateTime);
  return main.textContent;
})()`;

describe.skipIf(hasNoBrowser)("the page", () => {
  it("says the same of each in its sentence", async () => {
    const { page, faults } = await openConsole(browser, installation);
    const stands = page.locator("main :is([data-state=live], [data-state=empty])").first();
    for (const messageId of isLong ? found.keys() : SHOWN) {
      // A delivery that waited when it was seeded may have been tried since.
      await eventually(async () => {
        const { sentence } = await verdictOn(messageId);
        await page.goto(`${installation.system.controlUrl}/events/${encodeURIComponent(messageId)}`);
        await stands.waitFor();
        expect(await page.evaluate(SAID)).toContain(sentence);
      }, ARRIVAL);
    }
    expect(faults()).toEqual([]);
  });
});

describe("the command line", () => {
  /** Of the arrived and the other events, one is asked about by a process, whose end a script sees. */
  const byProcess = new Set(["v-delivered", "v-dead"]);
  const posthaste = (args: readonly string[]) => runPosthaste(installation, args);
  let commands: Commands;
  beforeAll(() => {
    commands = startCommands(installation);
  });
  afterAll(() => commands.close());

  it("names the same cause for each, and ends with 0 for what arrived and 3 for all else", async () => {
    // A repeat of an event that arrived is no reason to wait.
    const arrived = ["delivered", "delivered_elsewhere", "duplicate_of"];
    for (const messageId of found.keys()) {
      // A delivery that waited when it was seeded may have been tried since.
      await eventually(async () => {
        const { cause } = await verdictOn(messageId);
        const why = ["events", "why", messageId, "--json"];
        const { stdout, code } = await (byProcess.has(messageId) ? posthaste(why) : commands.run(why));
        expect([messageId, JSON.parse(stdout).cause, code]).toEqual([
          messageId,
          cause,
          arrived.includes(cause) ? 0 : 3,
        ]);
      }, ARRIVAL);
    }
  });

  it("finds a user's events, and scans the topics for what no log knows", async () => {
    const { stdout } = await posthaste(["events", "find", "--user-id", "ada", "--json"]);
    const ids = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).messageId);
    expect(ids).toEqual(expect.arrayContaining(["v-delivered", "v-dead", "v-off", "v-again"]));
    expect((await commands.run(["events", "find", "--user-id", "forgotten"])).code).toBe(3);
    const scan = await posthaste(["events", "scan", "v-at-router", "--json"]);
    expect(scan.code).toBe(0);
    expect(JSON.parse(scan.stdout)).toMatchObject({ what: "event", topic: installation.names.events });
    expect((await commands.run(["events", "scan", "v-never"])).code).toBe(3);
  });
});
