/**
 * Syncs: a caller's upload of an audience's users becomes records of `posthaste.audiences`, one for each user whose
 * value changes.
 *
 * Owns: the syncs under way in this process, and the timer of the next repair.
 * AS1  A sync holds the audience's lease from before it reads the first user to its end (AL1 of audience-lease.ts).
 * AS2  The caller's upload is first buffered, whole; nothing is written for an upload that breaks off.
 * AS3  Then the sync sets fences in every partition and reads the topic to its end; only then does it compare (U2).
 * AS4  It is answered when every record is acknowledged and read back.
 * AS5  Users that a late record of an ended sync made stale (U3) are written again soon, by whichever process gets the
 *      lease.
 * AS6  A removal stands in the audience's own record, with its entry in the audit in the same send, before any user is
 *      forgotten. When its process ends in the middle, another process finishes it (audience-removals.ts).
 *
 * U1 to U4 are rules of `membership.ts` of core.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { Author } from "@posthaste/core/access/author";
import type { Audience, SyncSummary } from "@posthaste/core/audience/audience";
import { changeTimeMs, type MembershipRecord } from "@posthaste/core/audience/membership";
import { PosthasteError } from "@posthaste/core/errors";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { AudienceLease, type LeaseOptions, type MeantAudience } from "./audience-lease.ts";
import type { Membership } from "./membership.ts";
import type { MembershipClient } from "./membership-client.ts";
import { membershipKey } from "./membership-entry.ts";
import type { Change, Page } from "./membership-table.ts";
import type { SyncPace } from "./sync-pace.ts";

/**
 * How long reading the topic to its end may take, in ms: it may be a whole topic after a restart without a data folder.
 */
const CATCH_UP_MS = 120_000;
/** How long a page's records may take to be acknowledged, in ms: longer than a broker's failure takes. */
const SEND_MS = 30_000;
/** How long a sync waits for another one to end, in ms. */
export const WAIT_MS = 5000;
const REPAIR_AFTER_MS = 1000;
const REPAIR_AGAIN_MS = 5000;

/** A user and the value that a caller says of them. */
export type Said = readonly [userId: string, valueJson: string];

export interface SyncRequest {
  readonly audience: MeantAudience;
  /** All that the caller says, in batches. Rejects when the upload breaks off. */
  readonly said: AsyncIterable<readonly Said[]> | Iterable<readonly Said[]>;
  /** Whether users that are not named become absent. */
  readonly isWhole: boolean;
  readonly waitMs?: number;
  readonly by: Author;
}

/** How far a sync of this process is. */
export interface SyncProgress {
  readonly startedAtMs: number;
  /** How many users the caller has named so far. */
  received: number;
  /** How many users were compared so far, including those who are removed. */
  compared: number;
}

export interface AudienceSyncsOptions extends LeaseOptions {
  readonly topic: string;
  readonly codec: Codec<MembershipRecord>;
  readonly membership: Membership;
  /** A producer of its own, so that no other write of control waits behind a membership. */
  readonly producer: Producer;
  /** Holds uploads and writes to the rate of syncs, and says how many users one page has. */
  readonly pace: Pick<SyncPace, "passed" | "stepUsers">;
}

type NextPage = (after: string | null) => Promise<Page>;

/** A caller's upload, as it was buffered. */
interface Upload {
  readonly table: MembershipClient;
  readonly upload: number;
  readonly isWhole: boolean;
}

export class AudienceSyncs {
  readonly #options: AudienceSyncsOptions;
  readonly #progress = new Map<string, SyncProgress>();
  readonly #running = new Set<Promise<unknown>>();
  #repair: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: AudienceSyncsOptions) {
    this.#options = options;
  }

  /** The progress of the sync of an audience that runs in this process. */
  progressOf(audienceId: string): SyncProgress | undefined {
    return this.#progress.get(audienceId);
  }

  /** Runs a sync (AS4). Rejects with the Problems of `AudienceLease.take`, and with the error of reading the upload. */
  sync({ audience, said, isWhole, by, waitMs = WAIT_MS }: SyncRequest): Promise<SyncSummary> {
    return this.#run(audience, waitMs, async (lease, progress) => {
      const table = await this.#options.membership.refresh(CATCH_UP_MS);
      // The upload is in this table alone; a table that is opened anew may have another upload of this number.
      const upload = await table.openUpload();
      try {
        for await (const users of said) {
          this.#assertOpen();
          await table.addToUpload(upload, users);
          progress.received += users.length;
          await this.#options.pace.passed(users.length);
        }
        const summary = await this.#compare(lease, progress, { table, upload, isWhole });
        await lease.release(summary, by);
        return summary;
      } finally {
        table.dropUpload(upload).catch(() => undefined);
      }
    });
  }

  /** Removes an audience and the records of its users. No identifies are made of the removal. */
  remove(audience: MeantAudience, by: Author): Promise<void> {
    return this.#remove(audience, by, WAIT_MS);
  }

  /** AS6. */
  async finishRemoval(audience: MeantAudience): Promise<void> {
    await this.#remove(audience, null, 0);
  }

  #remove(audience: MeantAudience, by: Author | null, waitMs: number): Promise<void> {
    return this.#run({ ...audience, isRemoved: true }, waitMs, async (lease) => {
      const { id, revision } = lease.audience;
      if (!lease.audience.isRemoved) await lease.markRemoved(by);
      const { topic } = this.#options;
      const headers = { [REVISION_HEADER]: String(revision) };
      const table = await this.#fence(lease);
      await this.#write(lease, (after) => table.everybody(id, after, this.#options.pace.stepUsers), {
        toRecord: ({ userId }) => ({ topic, key: membershipKey(id, userId), value: null, headers }),
      });
      await lease.removeRecord();
    });
  }

  /** AS5. Plans a repair. To be called when records were read. */
  repairSoon(afterMs = REPAIR_AFTER_MS): void {
    if (this.#repair !== null || this.#isClosed) return;
    this.#repair = setTimeout(() => {
      this.#repair = null;
      this.#repairAll().catch((error: unknown) => {
        this.#options.log.warn({ event: "membership_repair_failed", err: error });
        this.repairSoon(REPAIR_AGAIN_MS);
      });
    }, afterMs);
  }

  /** Ends the syncs that run: one that is not at its end changes nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#repair !== null) clearTimeout(this.#repair);
    await Promise.allSettled(this.#running);
  }

  async #repairAll(): Promise<void> {
    const { membership, audiences } = this.#options;
    // An audience that is being synced is repaired later; the others do not wait for that.
    const failures: unknown[] = [];
    for (const audienceId of await membership.table.stale()) {
      const audience = audiences.get(audienceId);
      if (audience === undefined || audience.isRemoved) continue;
      await this.#repairOne(audience).catch((reason: unknown) => failures.push(reason));
    }
    if (failures.length > 0) throw failures[0];
  }

  async #repairOne(audience: MeantAudience): Promise<void> {
    await this.#run(audience, 0, async (lease) => {
      const table = await this.#fence(lease);
      const next: NextPage = (after) => table.staleMembers(audience.id, after, this.#options.pace.stepUsers);
      await this.#write(lease, next, { toRecord: (change) => this.#toRecord(lease.audience, change) });
      await lease.release(null, null);
    });
    this.#options.log.info({ event: "membership_repaired", audienceId: audience.id });
  }

  /** AS1. */
  async #run<T>(
    audience: MeantAudience,
    waitMs: number,
    work: (lease: AudienceLease, progress: SyncProgress) => Promise<T>,
  ): Promise<T> {
    this.#assertOpen();
    const lease = await AudienceLease.take(this.#options, audience, waitMs);
    const progress: SyncProgress = { startedAtMs: this.#options.clock.nowMs(), received: 0, compared: 0 };
    this.#progress.set(audience.id, progress);
    const running = work(lease, progress);
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      await lease.release(null, null).catch(() => undefined);
      throw error;
    } finally {
      this.#running.delete(running);
      this.#progress.delete(audience.id);
    }
  }

  async #compare(
    lease: AudienceLease,
    progress: SyncProgress,
    { table, upload, isWhole }: Upload,
  ): Promise<SyncSummary> {
    const { id: audienceId, kind } = lease.audience;
    let [added, removed, unchanged] = [0, 0, 0];
    const toRecord = (change: Change): OutgoingRecord => {
      if (kind === "audience" && change.valueJson === "false") removed += 1;
      else added += 1;
      return this.#toRecord(lease.audience, change);
    };
    await this.#fence(lease);
    const query = { audienceId, kind, upload, limit: this.#options.pace.stepUsers };
    await this.#write(lease, (after) => table.changed({ ...query, after }), {
      toRecord,
      onPage: (page) => {
        unchanged += page.unchanged;
        progress.compared += page.unchanged + page.changes.length;
      },
    });
    if (isWhole) await this.#write(lease, (after) => table.missing({ ...query, after }), { toRecord });
    await this.#options.membership.refresh(CATCH_UP_MS);
    return { startedAtMs: progress.startedAtMs, endedAtMs: this.#options.clock.nowMs(), added, removed, unchanged };
  }

  /** AS3. Sets fences. Returns the table that has read everything before them. */
  async #fence(lease: AudienceLease): Promise<MembershipClient> {
    const { topic, codec, producer, membership } = this.#options;
    const { id, kind, sourceId, trait, revision, bornRevision } = lease.audience;
    const about = { audienceId: id, kind, sourceId, trait, revision, bornRevision };
    const value = codec.encode({ ...about, userId: null, valueJson: null, changedAtMs: this.#options.clock.nowMs() });
    const partitions = producer.partitionsOf(topic) ?? 0;
    lease.assertHeld();
    const fences = Array.from({ length: partitions }, (_, partition) => ({ topic, partition, key: id, value }));
    await withDeadline(producer.send(fences), SEND_MS, "the brokers");
    return await membership.refresh(CATCH_UP_MS);
  }

  /** Writes page after page; the next page is made while the records of the last one are on their way. */
  async #write(
    lease: AudienceLease,
    nextPage: NextPage,
    {
      toRecord,
      onPage,
    }: { readonly toRecord: (change: Change) => OutgoingRecord; readonly onPage?: (page: Page) => void },
  ): Promise<void> {
    const { producer, pace } = this.#options;
    let sent: Promise<void> = Promise.resolve();
    let after: string | null = null;
    do {
      const page: Page = await nextPage(after);
      await sent;
      this.#assertOpen();
      lease.assertHeld();
      onPage?.(page);
      sent =
        page.changes.length === 0
          ? sent
          : withDeadline(
              producer.send(page.changes.map(toRecord)),
              SEND_MS,
              "the brokers (some of the changes are made)",
            );
      sent.catch(() => undefined);
      await pace.passed(page.changes.length);
      after = page.after;
    } while (after !== null);
    await sent;
  }

  #toRecord(audience: Audience, { userId, valueJson, newestMs }: Change): OutgoingRecord {
    const { topic, codec, clock } = this.#options;
    const { id, kind, sourceId, trait, revision, bornRevision } = audience;
    const changedAtMs = changeTimeMs(clock.nowMs(), newestMs === null ? undefined : { newestMs });
    const about = { audienceId: id, kind, sourceId, trait, revision, bornRevision };
    return { topic, key: membershipKey(id, userId), value: codec.encode({ ...about, userId, valueJson, changedAtMs }) };
  }

  #assertOpen(): void {
    if (this.#isClosed)
      throw new PosthasteError("closed", "control is ending: the sync is not through", { retryable: true });
  }
}
