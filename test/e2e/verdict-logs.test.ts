/** Verdicts where delivery logs failures alone, and where it logs no attempts at all. */
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sendOne } from "./calls.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { createRoute, type Route } from "./route.ts";

const ARRIVAL = { timeoutMs: 60_000 };

let installation: Installation;
let receiver: Receiver;

interface Verdict {
  readonly cause: string;
  readonly sentence: string;
}
const verdictOn = (messageId: string) =>
  installation.control.call("GET", `/v1/events/${messageId}`) as Promise<Verdict>;
const expectCause = (messageId: string, cause: string) =>
  eventually(async () => {
    expect({ messageId, cause: (await verdictOn(messageId)).cause }).toEqual({ messageId, cause });
  }, ARRIVAL);
const send = async ({ writeKey }: Route, messageId: string) => {
  const call = { type: "track", userId: "ada", event: "Ordered", messageId };
  expect(await sendOne(installation.system.ingestUrl, writeKey, call)).toBe(200);
};
const arrives = ({ path }: Route, attempts: number) =>
  eventually(() => expect(receiver.requestsTo(path)).toHaveLength(attempts), ARRIVAL);

describe.each(["failures", "off"])("with the attempt log at %s", (attemptLog) => {
  beforeEach(async () => {
    const settings = { POSTHASTE_ATTEMPT_LOG: attemptLog, POSTHASTE_RETRY_SCHEDULE: "500ms,1h" };
    [installation, receiver] = await Promise.all([startInstallation({ settings }), startReceiver()]);
  });
  afterEach(async () => {
    await installation.close();
    await receiver.close();
  });

  it("what arrived at once is unknown, what was given up is not, what failed is known to failures", async () => {
    const route = await createRoute(installation, receiver, "/at-once");
    await send(route, "at-once");
    await arrives(route, 1);
    const waiting = await createRoute(installation, receiver, "/waits");
    receiver.script(waiting.path, { status: 503 });
    await send(waiting, "waits");
    await arrives(waiting, 2);
    const mended = await createRoute(installation, receiver, "/mended");
    receiver.script(mended.path, [{ status: 503 }, { status: 200 }]);
    await send(mended, "mended");
    await arrives(mended, 2);
    const refusing = await createRoute(installation, receiver, "/refuses");
    receiver.script(refusing.path, { status: 410 });
    await send(refusing, "dead");
    await expectCause("dead", "dead_letter");

    await expectCause("at-once", "unknown");
    const unlogged =
      attemptLog === "failures"
        ? /or it was delivered: delivery logs failures alone\.$/
        : /or failed: delivery logs neither\.$/;
    expect((await verdictOn("at-once")).sentence).toMatch(unlogged);
    await expectCause("waits", attemptLog === "failures" ? "waiting_retry" : "unknown");
    // The end of what left an entry is always logged, so that nothing seems to wait for ever.
    await expectCause("mended", attemptLog === "failures" ? "delivered" : "unknown");
  });
});
