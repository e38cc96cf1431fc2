/** The route by which somebody accepts that records are lost, so that delivery goes on without them. */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import { type AcceptedLoss, acceptedLossKey, encodeAcceptedLoss } from "@posthaste/contracts/accepted-loss";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { Lanes } from "@posthaste/core/lanes";
import type { Clock } from "@posthaste/core/time";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import type { RecordPlace } from "@posthaste/kafka/log/read-record";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { z } from "zod";
import { type Loss, lossInWords } from "./find-losses.ts";

export interface LossRoutesOptions {
  readonly find: () => Promise<readonly Loss[]>;
  /** When the record at this place was written, in ms since the epoch; null where there is none. */
  readonly writtenAtMs: (place: RecordPlace) => Promise<number | null>;
  readonly topic: string;
  readonly producer: Pick<Producer, "send">;
  readonly trail: AuditTrail;
  readonly clock: Pick<Clock, "nowMs">;
}

const range = z.strictObject({
  topic: z.string(),
  partition: z.int(),
  from: z.int().describe("The first offset that was lost."),
  to: z.int().describe("The offset behind the last one."),
});

const lossInput = z.strictObject({
  losses: z
    .array(range)
    .max(10_000)
    .optional()
    .describe("All losses, as the call without this field answered them. Absent: nothing is accepted."),
});

const lossAnswer = z.object({
  losses: z.array(
    range.extend({ records: z.int().describe("How many of these were not finished: deliveries that are lost.") }),
  ),
  accepted: z.boolean().describe("True: delivery goes on without them from its next start on."),
});

export function lossRoutes({ find, writtenAtMs, topic, producer, trail, clock }: LossRoutesOptions): readonly Route[] {
  const lanes = new Lanes();
  return [
    defineRoute({
      method: "POST",
      path: "/v1/topics/accept-loss",
      operation: "acceptLoss",
      summary:
        "Deliveries whose records were deleted before their time: see them, then let delivery go on without them",
      body: { name: "AcceptLossInput", schema: lossInput },
      answer: { status: 200, description: "What is lost.", body: { name: "AcceptedLosses", schema: lossAnswer } },
      handle: ({ body: { losses: named }, by }) =>
        lanes.inTurn("", async () => {
          const found = await find();
          const losses = found.map(({ topicId: _, ...loss }) => loss);
          if (named === undefined) return { losses, accepted: false };
          if (found.length === 0) throw new Problem("conflict", "Nothing is lost: there is nothing to accept.");
          assertSame(found, named);
          const audited = found.flatMap((loss) => {
            const to = { from: loss.from, to: loss.to, records: loss.records };
            return trail.recordsOf(by, { target: `${loss.topic}/${loss.partition}`, from: null, to });
          });
          const atMs = clock.nowMs();
          const accepted = await Promise.all(
            found.map(async (loss) => {
              return { ...loss, beforeMs: (await writtenAtMs({ ...loss, offset: loss.to })) ?? atMs, atMs };
            }),
          );
          await producer.send([...accepted.map((loss) => recordOf(topic, loss)), ...audited]);
          return { losses, accepted: true };
        }),
    }),
  ];
}

function assertSame(found: readonly Loss[], named: readonly z.output<typeof range>[]): void {
  const nameOf = (each: z.output<typeof range>) => `${each.topic}/${each.partition} ${each.from} ${each.to}`;
  const names = new Set(named.map(nameOf));
  if (names.size === found.length && found.every((loss) => names.has(nameOf(loss)))) return;
  throw new Problem(
    "conflict",
    `What is lost is not what was named: it is ${found.map(lossInWords).join("; ")}. Look at it, and name that.`,
  );
}

function recordOf(topic: string, loss: AcceptedLoss): OutgoingRecord {
  const headers = { [REVISION_HEADER]: String(Math.floor(loss.atMs / 1000)) };
  return { topic, key: acceptedLossKey(loss), value: encodeAcceptedLoss(loss), headers };
}
