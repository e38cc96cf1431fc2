/**
 * An operator's work over minutes: a secret that is rotated by the command line under load, and the health of a
 * destination that two delivery processes use, of which one is killed.
 */
import { findFreePorts } from "@posthaste/local-stack/ports";
import type { StackProcess } from "@posthaste/local-stack/stack-process";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callsOf, sendUntilTaken } from "./calls.ts";
import { posthaste } from "./posthaste.ts";
import { createRoute, messageIdsOf, type Route, untilKnown } from "./route.ts";
import { createStrictReceiver } from "./strict-receiver.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

/** Longer than a killed member's session (10 s), whose partitions nobody reads until it ends. */
const ARRIVAL = { timeoutMs: 60_000, intervalMs: 100 };
/** A process is heard of for a minute; a breaker that stayed open lets a probe through meanwhile. */
const AFTER_THE_MINUTE = { timeoutMs: 120_000, intervalMs: 500 };

let second: StackProcess;

useInstallation({ script: { delayMs: 5 } });

beforeAll(async () => {
  const [adminPort = 0] = await findFreePorts(1);
  second = installation.system.another("delivery", { adminPort });
  await second.start();
});

afterAll(() => second.kill());

describe("a receiver that is strict about signatures", () => {
  const A_SECOND = 50;
  const PAUSE_MS = 100;

  it("sees no bad one through a rotation by the command line, redeployed amid 50 requests a second", async () => {
    const path = "/strict";
    const { destinationId, sharedSecret: old, writeKey } = await createRoute(installation, receiver, path);
    const next = "the-next-secret-of-the-strict-one";
    const strict = createStrictReceiver({ standard: old, plain: [old] });
    receiver.script(path, strict.answer);
    await installation.control.call("PATCH", `/v1/destinations/${destinationId}`, {
      settings: { standardWebhooks: true },
    });
    const run = async (args: readonly string[], stdin = "") =>
      expect(await posthaste(installation, [...args, destinationId], stdin)).toMatchObject({ code: 0 });
    await untilKnown(installation);

    let isDone = false;
    let sent = 0;
    const sending = (async () => {
      for (
        const startedMs = performance.now();
        !isDone;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      ) {
        const due = Math.floor(((performance.now() - startedMs) * A_SECOND) / 1000) - sent;
        if (due > 0)
          await sendUntilTaken(
            installation.system.ingestUrl,
            writeKey,
            callsOf("strict", sent, Math.min(due, A_SECOND)),
          );
        sent += Math.max(0, Math.min(due, A_SECOND));
      }
    })();
    const someMoreBy = async (secret: string) => {
      const before = strict.inARow(secret);
      await eventually(() => expect(strict.inARow(secret)).toBeGreaterThan(before + A_SECOND), ARRIVAL);
    };
    try {
      await someMoreBy(old);
      await run(["secret", "next", "--shared-secret-file", "-"], next);
      await someMoreBy(old);
      strict.deploy({ standard: old, plain: [old, next] });
      // Again where the answer took longer than a test waits; one that is refused is noted below.
      await eventually(() => run(["send", "--sign-with", "next"]), ARRIVAL);
      await run(["secret", "switch"]);
      await someMoreBy(next);
      strict.deploy({ standard: next, plain: [old, next] });
      await someMoreBy(next);
      strict.deploy({ standard: next, plain: [next] });
      await run(["secret", "retire", "--yes"]);
      await someMoreBy(next);
    } finally {
      isDone = true;
      await sending;
    }
    await eventually(() => expect(messageIdsOf(receiver.requestsTo(path)).size).toBeGreaterThanOrEqual(sent), ARRIVAL);
    expect(strict.refused).toEqual([]);
  });
});

describe("the health of a destination that two delivery processes use", () => {
  const path = "/sick";
  let route: Route;

  interface Health {
    readonly state: string;
    readonly since: string | null;
    readonly nextProbe: string | null;
    readonly reason: { readonly status: number | null } | null;
    readonly processes: number;
  }
  const byApi = () =>
    installation.control.call("GET", `/v1/health/destinations/${route.destinationId}`) as Promise<Health>;
  const byCommand = async (): Promise<Health> =>
    JSON.parse((await posthaste(installation, ["destinations", "health", route.destinationId, "--json"])).stdout);

  it("is failing since the first failure, then open until the next probe, by API and command line", async () => {
    receiver.script(path, { status: 503 });
    route = await createRoute(installation, receiver, path);
    const startedMs = Date.now();
    await sendUntilTaken(installation.system.ingestUrl, route.writeKey, callsOf("sick", 0, 1));
    await eventually(async () => expect((await byApi()).state).toBe("failing"), ARRIVAL);
    const failing = await byCommand();
    expect(failing).toMatchObject({ state: "failing", nextProbe: null, reason: { status: 503 } });
    expect(Math.abs(Date.parse(failing.since ?? "") - startedMs)).toBeLessThan(ARRIVAL.timeoutMs);

    await eventually(async () => {
      await sendUntilTaken(
        installation.system.ingestUrl,
        route.writeKey,
        callsOf("sick", Math.floor(Math.random() * 1e9), 100),
      );
      expect(await byApi()).toMatchObject({ state: "open", nextProbe: expect.any(String), processes: 2 });
    }, ARRIVAL);
    expect(await byCommand()).toMatchObject({ state: "open", reason: { status: 503 }, processes: 2 });
    const { code, stdout } = await posthaste(installation, ["status"]);
    expect([code, stdout]).toEqual([
      3,
      expect.stringMatching(/■ destination \/sick.*503 from .*\/sick {2}since .*probe /),
    ]);
    await second.kill();
    receiver.script(path, { status: 200 });
  });

  it("does not count what the killed one said when its minute is over, and is healthy again", async () => {
    await eventually(async () => {
      await sendUntilTaken(
        installation.system.ingestUrl,
        route.writeKey,
        callsOf("mended", Math.floor(Math.random() * 1e9), 10),
      );
      expect(await byApi()).toMatchObject({ state: "healthy", nextProbe: null, processes: 1 });
    }, AFTER_THE_MINUTE);
    expect(await byCommand()).toMatchObject({ state: "healthy", reason: null, processes: 1 });
    expect((await posthaste(installation, ["status"])).stdout).not.toContain("destination /sick");
  });
});
