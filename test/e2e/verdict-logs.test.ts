/** Verdicts where delivery logs failures alone, and where it logs no attempts at all. */
import { eventually } from "@posthaste/testkit/eventually";
import type { Script } from "@posthaste/testkit/receiver";
import { describe, expect, it } from "vitest";
import { sendOne } from "./calls.ts";
import { createRoute, type Route } from "./route.ts";
import { undisturbed } from "./undisturbed.ts";
import { installation, receiver, useInstallation, useServiceWith } from "./use-installation.ts";

const ARRIVAL = { timeoutMs: 60_000 };

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
/** Sends an event, of which the receiver has so many attempts or more, and returns its message id. */
const attempted = (name: string, script: Script, attempts: number) =>
  undisturbed(installation, async (round, until) => {
    const route = await createRoute(installation, receiver, `/${name}-${round}`);
    receiver.script(route.path, script);
    await send(route, `${name}-${round}`);
    await until(() => expect(receiver.requestsTo(route.path).length).toBeGreaterThanOrEqual(attempts));
    return `${name}-${round}`;
  });

useInstallation();

describe.each(["failures", "off"])("with the attempt log at %s", (attemptLog) => {
  useServiceWith("delivery", { POSTHASTE_ATTEMPT_LOG: attemptLog });

  it("what arrived at once is unknown, what was given up is not, what failed is known to failures", async () => {
    const atOnce = await attempted(`at-once-${attemptLog}`, {}, 1);
    const waits = await attempted(`waits-${attemptLog}`, { status: 503 }, 2);
    const mended = await attempted(`mended-${attemptLog}`, [{ status: 503 }, { status: 200 }], 2);
    const dead = await attempted(`dead-${attemptLog}`, { status: 410 }, 1);
    await expectCause(dead, "dead_letter");

    await expectCause(atOnce, "unknown");
    const unlogged =
      attemptLog === "failures"
        ? /or it was delivered: delivery logs failures alone\. Check/
        : /or failed: delivery logs neither\. Check/;
    // While control has not read all, it says the same of this one as of any.
    await eventually(async () => expect((await verdictOn(atOnce)).sentence).toMatch(unlogged), ARRIVAL);
    await expectCause(waits, attemptLog === "failures" ? "waiting_retry" : "unknown");
    // The end of an attempt that left an entry is always logged, so that nothing seems to wait for ever.
    await expectCause(mended, attemptLog === "failures" ? "delivered" : "unknown");
  });
});
