/** Opens the parts of control that decide who may ask it. */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { Callers } from "@posthaste/http-kit/caller";
import { ConsoleOrigins } from "@posthaste/http-kit/console-origins";
import { adminMarkOf } from "@posthaste/http-kit/identifiers";
import type { Route } from "@posthaste/http-kit/route";
import { WrongTokens } from "@posthaste/http-kit/wrong-tokens";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createProducer } from "@posthaste/kafka/producer/producer";
import { openAccessStore } from "./access-store.ts";
import { SessionHandlers } from "./session-handlers.ts";
import { sessionRoutes } from "./session-routes.ts";
import { TokenCallers } from "./token-callers.ts";
import { TokenHandlers } from "./token-handlers.ts";
import { tokenRoutes } from "./token-routes.ts";
import { TokenUses } from "./token-uses.ts";

/** The time between two removals of records that are over (TK3 of access-store.ts), in ms. */
const SWEEP_MS = 60 * 60 * 1000;

export interface OpenAccessOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
  readonly adminToken: string;
  /** See ConsoleOriginsOptions. */
  readonly origins: readonly string[];
  readonly port: () => number;
  readonly clock: Clock;
  readonly trail: AuditTrail;
  readonly log: Log;
  /** See ConfigStoreOptions. */
  readonly writer: number;
}

export interface OpenedAccess {
  readonly routes: readonly Route[];
  readonly callers: Callers;
  /** The state of the tokens' table, for `/readyz`. */
  readonly state: true | string;
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

/** Resolves when the table is being read. */
export async function openAccess(options: OpenAccessOptions): Promise<OpenedAccess> {
  const { connection, names, adminToken, clock, log } = options;
  const producer = await createProducer(connection, { name: "tokens", topics: [names.tokens, names.audit] });
  const adminMark = adminMarkOf(adminToken);
  const store = await openAccessStore(connection, { ...options, topic: names.tokens, producer, adminMark });
  const wrong = new WrongTokens(clock);
  const origins = new ConsoleOrigins({ configured: options.origins, port: options.port });
  const uses = new TokenUses({ store, clock, log });
  const callers = new TokenCallers({ adminToken, store, origins, wrong, uses, clock, log });
  const sessions = new SessionHandlers({ store, callers, origins, wrong, adminMark, clock });
  const sweep = setInterval(() => {
    uses.forgetRevoked();
    store.removeExpired().catch((error: unknown) => log.warn({ event: "access_records_not_removed", err: error }));
  }, SWEEP_MS);
  sweep.unref();
  return {
    routes: [...tokenRoutes(new TokenHandlers({ store, uses, clock }), sessions), ...sessionRoutes(sessions, origins)],
    callers,
    get state() {
      return store.records.state;
    },
    caughtUp: () => store.caughtUp(),
    close: async () => {
      clearInterval(sweep);
      await store.records.close();
      await producer.close();
    },
  };
}
