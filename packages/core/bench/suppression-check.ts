/**
 * Cost to router and delivery, for each event, of learning whether its user is suppressed, with no suppressed users and
 * with a million: `node_modules/.bin/node packages/core/bench/suppression-check.ts [entries]`. By processor time.
 */
import { hash } from "node:crypto";
import { DigestSet } from "../src/deletion/digest-set.ts";
import { isDeliverySuppressed, isEventSuppressed, suppressionKey } from "../src/deletion/suppression.ts";
import type { Event } from "../src/event/event.ts";

const ENTRIES = Number(process.argv[2] ?? 1_000_000);
const CHECKS = 300_000;
const ROUNDS = 5;
const SOURCE = "src_4k2v8m1n0p3q5r7s";
const DESTINATION = "dst_4k2v8m1n0p3q5r7s";

const userOf = (number: number): string => `user-${(number * 2_654_435_761) % 4_294_967_296}-${number}`;

/** The median of some rounds, microseconds of the processor a check. */
function cost(check: (number: number) => boolean): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    let found = 0;
    for (let number = 0; number < CHECKS; number++) if (check(number)) found += 1;
    if (found > 0) throw new Error("somebody was found who is not suppressed");
    const { user, system } = process.cpuUsage(before);
    return (user + system) / CHECKS;
  });
  return rounds.sort((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
}

const suppressed = new DigestSet((text) => hash("sha256", text, "binary"));
// None of them is suppressed, as nearly every user of a real event is not.
const users = Array.from({ length: CHECKS }, (_, index) => userOf(-1 - index));
const events = users.map((userId): Event => {
  const common = { messageId: "m", sourceId: SOURCE, anonymousId: null, previousId: null, type: "track" };
  // Only the fields of an event that the check reads.
  return { ...common, userId } as Event;
});
// Delivery has the key as bytes.
const keys = users.map((userId) => Buffer.from(`${DESTINATION}:${userId}`));
const delivery = { sourceId: SOURCE, destinationId: DESTINATION, type: "track" } as const;

function checkEvent(number: number): boolean {
  const event = events[number];
  return event !== undefined && isEventSuppressed(suppressed, event);
}

function checkDelivery(number: number): boolean {
  if (suppressed.size === 0) return false;
  const key = keys[number]?.toString() ?? null;
  return isDeliverySuppressed(suppressed, { delivery, key, bodyText: () => "" });
}

function report(): void {
  const [event, one] = [cost(checkEvent), cost(checkDelivery)];
  process.stdout.write(
    `${suppressed.size} suppressed: ${event.toFixed(3)} us an event, ${one.toFixed(3)} us a delivery and look\n`,
  );
}

report();
for (let number = 0; number < ENTRIES; number++) suppressed.add(suppressionKey(SOURCE, userOf(number)));
report();
