/** Rule: E1 of deletion-runner.ts, with a process killed at each of its writes. */
import type { Codec } from "@posthaste/contracts/codec";
import type { Deletion } from "@posthaste/core/deletion/deletion";
import type { Suppression } from "@posthaste/core/deletion/suppression";
import type { Event } from "@posthaste/core/event/event";
import { SILENT_LOG } from "@posthaste/core/log";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { expect, it } from "vitest";
import { DeletionRunner } from "./deletion-runner.ts";

const USERS = 1500;
const DELETION: Deletion = {
  ...{ id: "del_1", state: "requested", createdAtMs: 7, sentAtMs: null, suppress: true, suppressionEndsAtMs: null },
  ...{ content: "c", userIds: Array.from({ length: USERS }, (_, index) => `user-${index}`), sourceIds: ["src_1"] },
  receivers: [{ sourceId: "src_1", destinationIds: ["dst_1"] }],
};
/** The suppressions, the notifications in two steps, the record that it is sent. */
const WRITES = 4;

/** The topics, of a request that is on record; and processes over them. */
function installation() {
  let held = DELETION;
  const suppressed: Suppression[] = [];
  const events: string[] = [];
  /** The counts on record when the request was marked as sent. */
  const sentWith: { suppressed: number; notified: number }[] = [];

  /** It is killed at its nth write: before the brokers have that, or before it hears that they do. */
  const start = (killedAt = Number.POSITIVE_INFINITY, isWritten = false) => {
    let writes = 0;
    const write = (apply: () => void): Promise<void> => {
      writes += 1;
      if (writes < killedAt || (writes === killedAt && isWritten)) apply();
      return writes < killedAt ? Promise.resolve() : Promise.reject(new Error("the process has ended"));
    };
    const runner = new DeletionRunner({
      store: {
        read: async () => held,
        markSent: (deletion) =>
          write(() => {
            sentWith.push({
              suppressed: new Set(suppressed.map(({ userId }) => userId)).size,
              notified: events.length,
            });
            held = { ...deletion, state: "sent", sentAtMs: 8 };
          }),
      },
      suppressions: { suppress: (users) => write(() => suppressed.push(...users)) },
      producer: {
        send: (records: readonly OutgoingRecord[]) =>
          write(() => events.push(...records.map(({ value }) => String(value)))),
      } as Partial<Producer> as Producer,
      eventsTopic: "events",
      eventCodec: { encode: (event: Event) => Buffer.from(JSON.stringify(event)) } as Codec<Event>,
      log: SILENT_LOG,
    });
    return { runner, writes: () => writes };
  };
  return { start, suppressed, events, sentWith, state: () => held.state };
}

const kills = Array.from({ length: WRITES }, (_, index) => index + 1).flatMap((killedAt) => [
  { killedAt, isWritten: false },
  { killedAt, isWritten: true },
]);

it("carries a request out by four writes", async () => {
  const { start, state } = installation();
  const { runner, writes } = start();
  await runner.run(DELETION);
  expect([writes(), state()]).toEqual([WRITES, "sent"]);
});

it.each(kills)("E1: killed at write $killedAt (written: $isWritten), it is carried out by the next", async (kill) => {
  const { start, suppressed, events, sentWith, state } = installation();
  await expect(start(kill.killedAt, kill.isWritten).runner.run(DELETION)).rejects.toThrow("the process has ended");
  expect(state()).toBe(kill.killedAt === WRITES && kill.isWritten ? "sent" : "requested");
  await start().runner.runRecorded(DELETION.id);
  expect(state()).toBe("sent");
  // A record that came twice is the same record, by which the router and receivers know it.
  expect(new Set(events).size).toBe(USERS);
  const ids = new Set(events.map((text) => (JSON.parse(text) as Event).messageId));
  expect(ids.size).toBe(USERS);
  expect(new Set(suppressed.map((each) => JSON.stringify(each))).size).toBe(USERS);
  // It was said to be sent when the brokers had all of it, and not before.
  expect(sentWith.every((each) => each.suppressed === USERS && each.notified >= USERS)).toBe(true);
  expect(sentWith).toHaveLength(1);
});
