/** Opens the audit of control: the parts that write it and the parts that read it. */
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { AuditEntry } from "@posthaste/core/access/audit-entry";
import type { Freshness } from "@posthaste/core/freshness";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { RecentEntries } from "@posthaste/kafka/log/recent-entries";
import { AuditLog, type HeldEntry } from "./audit-log.ts";
import { AuditTrail } from "./audit-trail.ts";

export interface OpenAuditOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
  readonly clock: Clock;
  /** Ends the process. */
  readonly fail: (reason: Error) => void;
}

export interface OpenedAudit {
  readonly trail: AuditTrail;
  readonly auditLog: AuditLog;
  readonly live: { readonly recent: RecentEntries<HeldEntry>; readonly freshness: Freshness };
  close(): void;
}

/** Resolves when the newest entries are held. */
export async function openAudit(options: OpenAuditOptions): Promise<OpenedAudit> {
  const { connection, openCodec, names, clock, fail } = options;
  const codec = await openCodec<AuditEntry>("audit");
  const topic = names.audit;
  const recent = new RecentEntries<HeldEntry>();
  const auditLog = new AuditLog(connection, { topic, codec, clock, recent, onFailure: fail });
  await auditLog.caughtUp();
  return {
    trail: new AuditTrail({ topic, codec, clock }),
    auditLog,
    live: {
      recent,
      get freshness() {
        return auditLog.freshness;
      },
    },
    close: () => auditLog.close(),
  };
}
