/** Every route of control, in the order of `/openapi.json`. */
import type { Clock } from "@posthaste/core/time";
import { suppressedKeyCheck } from "@posthaste/deletions/suppressed-key";
import type { Route } from "@posthaste/http-kit/route";
import type { Readiness } from "@posthaste/runtime/admin-server";
import { registryAccess } from "@posthaste/runtime/connection-settings";
import type { ControlConfig } from "../config.ts";
import { auditRoutes } from "../configuration/audit/audit-routes.ts";
import { configRevisions } from "../configuration/audit/config-revisions.ts";
import { ResendAuthors } from "../configuration/audit/resend-authors.ts";
import { catalogRoutes } from "../configuration/destinations/catalog-routes.ts";
import { destinationRoutes } from "../configuration/destinations/destination-routes.ts";
import { destinationSecretRoutes } from "../configuration/destinations/secret-routes.ts";
import { destinationTestRoutes } from "../configuration/destinations/test-routes.ts";
import { sourceRoutes } from "../configuration/sources/source-routes.ts";
import { DeadLetterExport } from "../delivery-log/deliveries/dead-letter-export.ts";
import { deadLetterExportRoutes } from "../delivery-log/deliveries/dead-letter-export-routes.ts";
import { deadLetterRoutes } from "../delivery-log/deliveries/dead-letter-routes.ts";
import { deliveryRoutes } from "../delivery-log/deliveries/delivery-routes.ts";
import { latestRoutes } from "../delivery-log/deliveries/latest-routes.ts";
import { MendedDestinations } from "../delivery-log/deliveries/mended-destinations.ts";
import { liveDeliveryState } from "../delivery-log/events/live-delivery-state.ts";
import { openEvents } from "../delivery-log/events/open-events.ts";
import { liveRoutes } from "../delivery-log/live/live-routes.ts";
import { createOpenFeeds } from "../delivery-log/live/live-topics.ts";
import { configuredTopics, type OpenedDoctor, openDoctor } from "../health/doctor/open-doctor.ts";
import type { Parts } from "./parts.ts";

export interface RoutesOptions {
  readonly config: ControlConfig;
  readonly clock: Clock;
  /** The readiness that `/readyz` answers. */
  readonly readiness: () => Promise<Readiness>;
}

/** Puts the doctor together from the parts. */
export function openDoctorOf(
  parts: Parts,
  { config, clock, readiness, version }: RoutesOptions & { readonly version: string },
): OpenedDoctor {
  const { connection, names, destinations, health, losses, sender } = parts;
  return openDoctor({
    ...{ version, connection, names, clock, destinations, readiness, reportedHealth: health.reportedHealth, losses },
    ...{ services: config.POSTHASTE_READY_URLS, registry: registryAccess(config) },
    ...{ reported: configuredTopics(config), reach: (url) => sender.reach(url) },
    // A user of the brokers has grants for its own topics and groups alone (SECURITY.md).
    asksBrokers: config.KAFKA_SASL_MECHANISM === undefined && config.KAFKA_TLS_CERT_FILE === undefined,
  });
}

/** Resolves when the codecs that the routes of events need are open. */
export async function openRoutes(
  parts: Parts,
  doctor: OpenedDoctor,
  options: RoutesOptions,
): Promise<readonly Route[]> {
  const { config, clock, readiness } = options;
  const { sources, destinations, readModel, deadLetters, replays, health } = parts;
  const { suppressed } = parts.deletions;
  const mended = new MendedDestinations({ deadLetters, plans: replays.plans, nowMs: clock.nowMs });
  const authors = new ResendAuthors(parts.audit.auditLog, clock.nowMs);
  return [
    ...catalogRoutes(),
    ...sourceRoutes({ sources, clock }),
    ...parts.sourceCalls.routes,
    ...parts.testReceivers.routes,
    ...destinationRoutes({ destinations, sources, clock }),
    ...destinationSecretRoutes({ destinations, sources, clock }),
    ...destinationTestRoutes({ destinations, sender: parts.sender, clock }),
    ...parts.deletions.routes,
    ...(await openEventRoutes(parts, authors, options)),
    ...deliveryRoutes(readModel, suppressed),
    ...latestRoutes({ readModel, suppressed, authors, nowMs: clock.nowMs }),
    ...parts.resends.routes,
    ...deadLetterRoutes(deadLetters),
    ...deadLetterExportRoutes(
      new DeadLetterExport({ ...replays.reading, suppressed, past: replays.past }),
      deadLetters,
    ),
    ...replays.routes,
    ...health.routes({
      ...{ readiness, plans: replays.plans, ingestUrl: config.POSTHASTE_INGEST_URL ?? null },
      answeringAgain: (all) => mended.among(all),
    }),
    ...doctor.routes,
    ...parts.losses.routes,
    ...parts.audiences.routes,
    ...parts.unreadable.routes,
    ...parts.access.routes,
    ...auditRoutes({
      ...{ auditLog: parts.audit.auditLog, nowMs: clock.nowMs },
      revisions: configRevisions({ sources, readModel }),
    }),
    ...streamRoutes(parts, clock),
  ];
}

function openEventRoutes(
  parts: Parts,
  authors: ResendAuthors,
  { config, clock }: RoutesOptions,
): Promise<readonly Route[]> {
  const { names, connection, openCodec, sources, destinations, readModel, deadLetters, audit, health } = parts;
  const { suppressed, stopping } = parts.deletions;
  return openEvents({
    ...{ connection, openCodec, names, sources, destinations, readModel, deadLetters, suppressed, stopping, clock },
    ...{
      authors,
      audit: audit.auditLog,
      keepMs: config.POSTHASTE_DELIVERY_LOG_KEEP,
    },
    logSettings: () => health.reportedHealth.book.processes(),
    beside: liveDeliveryState(names, health.reportedHealth.book),
    lostOf: parts.losses.lostOf,
  });
}

function streamRoutes(parts: Parts, clock: Clock): readonly Route[] {
  const { readModel, deadLetters, audit, replays, health, sources, sourceCalls, metrics } = parts;
  const { suppressed } = parts.deletions;
  return liveRoutes({
    openFeeds: createOpenFeeds({
      ...{ readModel, deadLetters, audit: audit.live, replays: replays.live, health: health.live },
      isSuppressed: suppressedKeyCheck(suppressed),
      calls: { sources, tail: sourceCalls.tail, suppressed },
    }),
    onOpen: (streams) => metrics.liveStreams.set(streams),
    clock,
  });
}
