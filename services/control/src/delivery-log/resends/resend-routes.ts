/**
 * Sends one delivery again, by hand.
 *
 * RS1  The resend is a delivery of its own: it has the key, the body and the message id of the record that was found,
 *      an origin without a topic generation (O3 of `origin.ts`), a new retry window, and a replay id that its attempts
 *      name.
 * RS2  The audit's entry is in the same send, so that neither is acknowledged without the other. Nothing else is
 *      written: a process that ends on the way has sent the delivery or has not.
 * RS3  A copy that waits for a retry stays, and is sent when it is due; the receiver knows both by `X-Message-Id`.
 */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Codec } from "@posthaste/contracts/codec";
import { encodeProgress } from "@posthaste/contracts/headers";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Author } from "@posthaste/core/access/author";
import type { Destination } from "@posthaste/core/config/destination";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { isOriginKnown, replayedDelivery, replayedProgress, resentDelivery } from "@posthaste/core/delivery/replay";
import type { Log } from "@posthaste/core/log";
import { tracedAgain } from "@posthaste/dead-letters/again-span";
import { createId } from "@posthaste/http-kit/identifiers";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { Traces } from "@posthaste/runtime/traces";
import { z } from "zod";
import type { AskedDelivery, SentRecord, SentRecords } from "./sent-records.ts";

/** How long the send waits for the brokers, in ms, as other writes of control do. */
const SEND_MS = 10_000;

export interface ResendRoutesOptions {
  readonly records: SentRecords;
  readonly destinations: ConfigStore<Destination>;
  readonly producer: Producer;
  readonly names: TopicNames;
  readonly deliveryCodec: Codec<Delivery>;
  readonly trail: AuditTrail;
  readonly log: Log;
  /** Undefined while traces are off. */
  readonly traces: Traces | undefined;
}

const resendInput = z.strictObject({
  messageId: z.string("expected the message id of the event").min(1),
  destinationId: z.string("expected the id of a destination").min(1),
  sourceId: z.string().optional().describe("Where two sources sent the same message id."),
});

const resent = z.object({
  replayId: z.string().describe("Names the resend in GET /v1/deliveries and in the audit."),
  copyWaits: z.boolean().describe("Whether it waits for a retry as well: that copy stays, and is sent when it is due."),
});

export function resendRoutes(options: ResendRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/deliveries/resend",
      operation: "resendDelivery",
      summary: "Send one delivery again, now, by hand",
      body: { name: "ResendInput", schema: resendInput },
      answer: { status: 202, description: "The brokers have it.", body: { name: "Resent", schema: resent } },
      refusals: ["not_found", "conflict"],
      handle: ({ body, by }) => resend(options, body, by),
    }),
  ];
}

async function resend(
  options: ResendRoutesOptions,
  asked: AskedDelivery,
  by: Author,
): Promise<z.output<typeof resent>> {
  const { records, producer, trail, log, traces } = options;
  const { messageId, destinationId } = asked;
  const found = await records.find(asked);
  if (found === null) {
    throw refused(asked, "its record is past its retention, so that nothing is left to send");
  }
  const destination = await destinationOf(options, asked);
  if (found.isSuppressed) throw refused(asked, "a deletion request stopped the user's events");
  const copyWaits = await records.isWaiting(asked);
  const replayId = createId("rsd");
  const audited = trail.recordsOf(by, { target: replayId, from: null, to: { messageId, destinationId } });
  const sent = againOf(options, found, { replayId, destination });
  const traced = { name: "resend", from: found.record, replayId, destinationId, messageId } as const;
  const again = traces === undefined ? sent : tracedAgain(traces, sent, traced);
  await withDeadline(producer.send([again, ...audited]), SEND_MS, "sending a delivery again");
  log.info({ event: "delivery_resent", replayId, messageId, destinationId });
  return { replayId, copyWaits };
}

/** RS1. Under `settle: each` only the URLs that the record owes are called. */
function againOf(
  { names, deliveryCodec }: ResendRoutesOptions,
  { record, delivery, deadLetter, past, urls, replay }: SentRecord,
  { replayId, destination }: { readonly replayId: string; readonly destination: Destination },
): OutgoingRecord {
  const { topic, partition, offset, key } = record;
  const from = deadLetter === null ? null : `${topic}/${partition}/${offset}`;
  const owed = destination.settle === "each" ? urls : null;
  const value =
    deadLetter === null ? resentDelivery(delivery, isOriginKnown(delivery, replay)) : replayedDelivery(deadLetter);
  const headers = encodeProgress(replayedProgress(past, { replayId, from, urls: owed }));
  return { topic: names.deliveries, key, value: deliveryCodec.encode(value), headers };
}

async function destinationOf({ destinations }: ResendRoutesOptions, asked: AskedDelivery): Promise<Destination> {
  const destination = await destinations.find(asked.destinationId);
  if (destination === undefined) throw refused(asked, `${asked.destinationId} is no more`);
  if (!destination.enabled) throw refused(asked, `${asked.destinationId} is switched off: turn it on first`);
  return destination;
}

function refused({ messageId, destinationId }: AskedDelivery, why: string): Problem {
  return new Problem("conflict", `${messageId} is not sent to ${destinationId} again: ${why}`);
}
