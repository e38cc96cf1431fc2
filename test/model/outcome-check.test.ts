/** OC2 and OC3 of outcome-check.ts, over deliveries and attempts that are made up. */
import { NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { testDestination } from "@posthaste/testbed/test-destination";
import { describe, expect, it } from "vitest";
import { DeliveryWitness } from "./delivery-witness.ts";
import { createCodecs, NAMES, RETRY_TOPICS } from "./installation.ts";
import { ModelLog } from "./model-log.ts";
import { checkOutcome } from "./outcome-check.ts";
import { World } from "./world.ts";

const DESTINATION = testDestination("dst");

/** Runs `play` on a witness and its log, and returns the check's violations. */
function violations(play: (witness: DeliveryWitness, log: ModelLog) => void): readonly string[] {
  const found: string[] = [];
  const codecs = createCodecs();
  const world = new World((error) => {
    throw error;
  });
  const log = new ModelLog(world, new Map([[NAMES.deliveries, 1]]), new Set(RETRY_TOPICS));
  const witness = new DeliveryWitness({
    log,
    names: NAMES,
    deliveryCodec: codecs.delivery,
    deadLetterCodec: codecs.deadLetter,
    windowMs: 20_000,
    clocksAreTrue: true,
    onViolation: (what) => found.push(what),
  });
  play(witness, log);
  checkOutcome({
    events: [],
    destinations: [],
    deliveries: witness,
    dedupes: true,
    onViolation: (what) => found.push(what),
  });
  return found;
}

function delivery(originOffset: number) {
  return {
    ...{ messageId: `message-${originOffset}`, sourceId: "src", destinationId: DESTINATION.id, type: "track" as const },
    ...{ receivedAtMs: 0, configOffset: 0, originIncarnation: 1, originPartition: 0, originOffset },
    ...{ body: Buffer.from("{}"), event: null, restJson: null },
  };
}

function attempt(witness: DeliveryWitness, processId: string, originOffset: number, startedMs: number): void {
  const record = {
    ...{ topic: NAMES.deliveries, partition: 0, offset: originOffset, timestampMs: 0, headers: {} },
    ...{ key: Buffer.from("dst:ada"), value: Buffer.from("{}") },
  };
  const of = { destination: DESTINATION, urls: [], isRetry: false, isLast: false, progress: NO_PROGRESS };
  const seen = { ...of, processId, record, delivery: delivery(originOffset), startedMs, startedByClockMs: startedMs };
  witness.attempted(seen, DESTINATION, undefined);
}

describe("OC2: a delivery that stands below one of a later event", () => {
  const write = (log: ModelLog, originOffset: number, messageId: string): void => {
    const value = createCodecs().delivery.encode({ ...delivery(originOffset), messageId });
    log.append(NAMES.deliveries, 0, { key: Buffer.from("dst:ada"), value, headers: {}, timestampMs: 0 });
  };
  const lost = (messageId: string) =>
    violations((_, log) => {
      write(log, 12, "twice");
      write(log, 14, "later");
      write(log, 13, messageId);
    }).filter((what) => what.startsWith("OC2 0/13/"));

  it("may be passed over where its call is a repeat of one whose delivery stands before it", () => {
    expect(lost("twice")).toEqual([]);
  });

  it("is lost where it is a call of its own", () => {
    expect(lost("once")).toHaveLength(1);
  });
});

describe("OC3", () => {
  it("allows what a process deferred on arrival, and never republished, after what that process went on with", () => {
    const found = violations((witness) => {
      witness.deferredOnArrival("delivery-1", delivery(4), 100);
      attempt(witness, "delivery-1", 5, 110);
      attempt(witness, "delivery-2", 4, 900);
    });
    expect(found).toEqual([]);
  });

  it("does not allow it after what another process attempted, which deferred nothing", () => {
    const found = violations((witness) => {
      witness.deferredOnArrival("delivery-1", delivery(4), 100);
      attempt(witness, "delivery-2", 5, 900);
      attempt(witness, "delivery-2", 4, 910);
    });
    expect(found).toEqual(["OC3 0/4/dst was first attempted after 0/5/dst, which came later"]);
  });

  it("does not allow it after what the process attempted before it deferred", () => {
    const found = violations((witness) => {
      attempt(witness, "delivery-1", 5, 90);
      witness.deferredOnArrival("delivery-1", delivery(4), 100);
      attempt(witness, "delivery-2", 4, 900);
    });
    expect(found).toEqual(["OC3 0/4/dst was first attempted after 0/5/dst, which came later"]);
  });

  it("does not allow what was never deferred", () => {
    const found = violations((witness) => {
      attempt(witness, "delivery-1", 5, 90);
      attempt(witness, "delivery-1", 4, 900);
    });
    expect(found).toEqual(["OC3 0/4/dst was first attempted after 0/5/dst, which came later"]);
  });
});
