/**
 * Syncs of an audience whose control, emitter and router are killed at random moments, repeated after: what a receiver
 * holds of each user in the end, by the newest timestamp. Rules: AE1 of audience-emitter.ts, U1 and U3 of
 * membership.ts.
 */
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "@posthaste/testkit/eventually";
import type { ReceivedRequest } from "@posthaste/testkit/receiver";
import { expect, it } from "vitest";
import { bodyOf, createRoute } from "../e2e/route.ts";
import { installation, receiver, useInstallation } from "../e2e/use-installation.ts";
import { isLong, longRounds } from "./form.ts";

const ROUNDS = isLong ? longRounds(10) : 3;
const USERS = isLong ? 5000 : 1000;
/** Longer than a killed member's session (10 s), whose partitions nobody reads until it ends. */
const ARRIVAL = { timeoutMs: 90_000, intervalMs: 100 };

useInstallation({ settings: { POSTHASTE_AUDIENCE_RATE: "2000", POSTHASTE_AUDIENCE_LEASE: "2s" } });

/** What each user's newest identify says. */
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

it("U1 to U3, AE1: each user's newest identify says the last sync's word, whoever was killed in the middle", async () => {
  const { control, system } = installation;
  const route = await createRoute(installation, receiver, "/audience");
  const { id } = (await control.call("POST", "/v1/audiences", { name: "Killed", sourceId: route.sourceId })) as {
    id: string;
  };
  let members: readonly string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    members = Array.from({ length: USERS }, (_, index) => `user-${index}`).filter(() => Math.random() < 0.5);
    const sync = (): Promise<unknown> => control.call("PUT", `/v1/audiences/${id}/members`, members);
    // The first attempt fails with its control, or ends before; it is made again until it ends.
    const first = sync().catch(() => undefined);
    await delay(Math.random() * 1000);
    const killed = system.process(round % 3 === 2 ? "router" : "control");
    await killed.kill();
    await first;
    await killed.start();
    await eventually(sync, ARRIVAL);
  }
  const isMember = new Set(members);
  await eventually(() => {
    const told = newest(receiver.requestsTo(route.path), "killed");
    const wrong = [...told].filter(([userId, value]) => value !== isMember.has(userId));
    expect(wrong).toEqual([]);
    expect(members.filter((userId) => told.get(userId) !== true)).toEqual([]);
  }, ARRIVAL);
  // A repeat is the same in all but its arrival, and has the message id that it had.
  const bodies = new Map<string, string>();
  for (const request of receiver.requestsTo(route.path)) {
    const messageId = request.headers["x-message-id"] ?? "";
    const body = request.body.toString();
    expect(bodies.get(messageId) ?? body).toBe(body);
    bodies.set(messageId, body);
  }
});
