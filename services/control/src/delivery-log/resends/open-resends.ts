/** Opens the parts of control that read the records behind deliveries and send them again. */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { Log } from "@posthaste/core/log";
import type { Route } from "@posthaste/http-kit/route";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createProducer } from "@posthaste/kafka/producer/producer";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { Traces } from "@posthaste/runtime/traces";
import type { VisibleDeadLetters } from "../deliveries/visible-dead-letters.ts";
import { recordRoutes } from "./record-routes.ts";
import { resendRoutes } from "./resend-routes.ts";
import { SentRecords } from "./sent-records.ts";

export interface OpenResendsOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
  readonly destinations: ConfigStore<Destination>;
  readonly readModel: ReadModel;
  readonly deadLetters: VisibleDeadLetters;
  readonly suppressed: SuppressedUsers;
  readonly trail: AuditTrail;
  readonly log: Log;
  /** Undefined while traces are off. */
  readonly traces: Traces | undefined;
}

export interface OpenedResends {
  readonly routes: readonly Route[];
  close(): Promise<void>;
}

export async function openResends(options: OpenResendsOptions): Promise<OpenedResends> {
  const { connection, openCodec, names } = options;
  const [deliveryCodec, deadLetterCodec, producer] = await Promise.all([
    openCodec<Delivery>("delivery"),
    openCodec<DeadLetter>("dead-letter"),
    // A producer of its own, so that deliveries and configuration do not wait for one another.
    createProducer(connection, { name: "resend", topics: [names.deliveries, names.audit] }),
  ]);
  const records = new SentRecords({ ...options, deliveryCodec, deadLetterCodec });
  return {
    routes: [
      ...recordRoutes({ ...options, records }),
      ...resendRoutes({ ...options, records, producer, deliveryCodec }),
    ],
    close: () => producer.close(),
  };
}
