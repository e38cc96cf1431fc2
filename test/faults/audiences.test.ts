/**
 * Syncs of an audience whose control, router and emitter are killed at random moments, repeated after: a receiver's
 * value of each user in the end, by the newest timestamp, and the number of identifies that came twice. The emitter is
 * killed with control, of which it is a part, and alone: a second process of control has a share of its partitions.
 * Rules: U1 to U3 of membership.ts and AE1 of audience-emitter.ts.
 */
import { setTimeout as delay } from "node:timers/promises";
import { findFreePorts } from "@posthaste/local-stack/ports";
import { eventually } from "@posthaste/testkit/eventually";
import { createRandom } from "@posthaste/testkit/random";
import type { ReceivedRequest } from "@posthaste/testkit/receiver";
import { expect, it, onTestFinished } from "vitest";
import { bodyOf, createRoute } from "../e2e/route.ts";
import { installation, receiver, useInstallation, useServiceWith } from "../e2e/use-installation.ts";
import { isLong, longRounds, printSeed } from "./form.ts";
import { printWithLoad, toTable } from "./table.ts";

/** Each of three is killed in turn. */
const ROUNDS = isLong ? longRounds(10) : 3;
const USERS = isLong ? 5000 : 400;
/** Longer than a killed member's session (10 s), whose partitions nobody reads until it ends. */
const ARRIVAL = { timeoutMs: 90_000, intervalMs: 100 };

const SETTINGS = { POSTHASTE_AUDIENCE_RATE: "2000", POSTHASTE_AUDIENCE_LEASE: "2s" };

useInstallation();
const ownControl = useServiceWith("control", SETTINGS);

/** The value of each user's newest identify. */
function newest(requests: readonly ReceivedRequest[], trait: string): ReadonlyMap<string, unknown> {
  const values = new Map<string, { readonly timestamp: string; readonly value: unknown }>();
  for (const request of requests) {
    const { userId, timestamp, traits } = bodyOf(request);
    const value = (traits as Record<string, unknown>)[trait];
    const held = values.get(String(userId));
    if (held === undefined || held.timestamp <= String(timestamp)) {
      values.set(String(userId), { timestamp: String(timestamp), value });
    }
  }
  return new Map([...values].map(([userId, { value }]) => [userId, value]));
}

it("U1 to U3, AE1: each user's newest identify says the last sync's word, whoever was killed", async () => {
  const { control, system } = installation;
  const random = createRandom(printSeed("audiences"));
  const [adminPort = 0, controlPort = 0] = await findFreePorts(2);
  const emitter = system.another("control", { adminPort, controlPort, settings: SETTINGS });
  onTestFinished(() => emitter.stop());
  await emitter.start();
  const route = await createRoute(installation, receiver, "/audience");
  const { id } = (await control.call("POST", "/v1/audiences", { name: "Killed", sourceId: route.sourceId })) as {
    id: string;
  };
  let members: readonly string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    members = Array.from({ length: USERS }, (_, index) => `user-${index}`).filter(() => random() < 0.5);
    const sync = (): Promise<unknown> => control.call("PUT", `/v1/audiences/${id}/members`, members);
    const victims = [ownControl(), system.process("router"), emitter];
    const killed = victims[round % victims.length] ?? emitter;
    // The first attempt fails with its control, or where a busy broker does not answer in time; it is made again.
    const first = sync().catch(() => undefined);
    await delay(random() * 1000);
    await killed.kill();
    await first;
    await killed.start();
    await eventually(sync, ARRIVAL);
  }
  const isMember = new Set(members);
  await eventually(() => {
    const reported = newest(receiver.requestsTo(route.path), "killed");
    const wrong = [...reported].filter(([userId, value]) => value !== isMember.has(userId));
    expect(wrong).toEqual([]);
    expect(members.filter((userId) => reported.get(userId) !== true)).toEqual([]);
  }, ARRIVAL);
  // A repeat is the same in all but its arrival, and has the message id that it had.
  const bodies = new Map<string, string>();
  for (const request of receiver.requestsTo(route.path)) {
    const messageId = request.headers["x-message-id"] ?? "";
    const body = request.body.toString();
    expect(bodies.get(messageId) ?? body).toBe(body);
    bodies.set(messageId, body);
  }
  const requests = receiver.requestsTo(route.path).length;
  printWithLoad(toTable(["kills", "identifies", "repeated"], [[ROUNDS, bodies.size, requests - bodies.size]]));
});
