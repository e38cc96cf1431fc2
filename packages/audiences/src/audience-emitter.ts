/**
 * Makes an identify of every record of `posthaste.audiences`, at a limited rate.
 *
 * Owns: the consumer of the emitter's group, and the tasks that wait to be emitted.
 * AE1  A record is finished when its identify is acknowledged, so a crash loses none. A repeat has the same message id,
 *      which is made from the record's content.
 * AE2  Identifies go out in the order in which the records of a partition stand.
 * AE3  They go out at a rate, in steps of a few at a time (EP1 and EP2 of emitter-pace.ts), so that they do not delay
 *      the sources' events. Records that wait are in the topic, and cost nothing.
 * AE4  Records of a removed audience become no identifies (AQ1 of audience-presence.ts).
 */
import { createHash } from "node:crypto";
import type { Codec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import { PosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import { plainEvent } from "@posthaste/core/event/plain-event";
import { eventKey } from "@posthaste/core/routing/partition-key";
import type { Clock } from "@posthaste/core/time";
import { decodeOrReason } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createWindowedConsumer } from "@posthaste/kafka/consumer/consumer";
import type { Task, WindowedConsumer } from "@posthaste/kafka/consumer/windowed-consumer";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { AudiencePresence, type AudiencePresenceOptions } from "./audience-presence.ts";
import { EmitterPace } from "./emitter-pace.ts";

/** The limits of each partition's window; records that wait in it are in the topic as well. */
const WINDOW = { maxRecords: 200, maxBytes: 1024 * 1024 };
/** How long a stop waits for tasks; the records of the others are read again by the next emitter. */
const DRAIN_MS = 1000;

export interface AudienceEmitterOptions {
  readonly names: TopicNames;
  readonly codec: Codec<MembershipRecord>;
  readonly events: Codec<Event>;
  readonly audiences: AudiencePresenceOptions["audiences"];
  readonly producer: Producer;
  readonly unreadable: Pick<UnreadableRecords, "put">;
  /** How long a record waits for a schema that the registry says it does not know, ms. */
  readonly unknownSchemaMs: number;
  /** The most identifies a second of this process. */
  readonly ratePerSecond: number;
  readonly clock: Clock;
  readonly onEmitted: (identifies: number) => void;
  /** Called with the number of records that became no identify, since their audience was removed. */
  readonly onDropped: (records: number) => void;
  /** Called when the emitter cannot go on; the process should end. */
  readonly onFailure: (reason: Error) => void;
}

/** A record that names a user. */
type Reported = MembershipRecord & { readonly userId: string; readonly valueJson: string };
/** A record that names a user; null for one that becomes no identify; or why the record cannot be read. */
type Taken = Reported | PosthasteError | null;

function isReported(item: Taken): item is Reported {
  return item !== null && !(item instanceof PosthasteError);
}

export class AudienceEmitter {
  readonly #options: AudienceEmitterOptions;
  readonly #consumer: WindowedConsumer;
  readonly #pace: EmitterPace;
  readonly #presence: AudiencePresence;
  readonly #closing = new AbortController();
  #waiting: Task<Taken>[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isLearning = false;

  constructor(connection: KafkaConnection, options: AudienceEmitterOptions) {
    const { names, codec, audiences, ratePerSecond, unknownSchemaMs, clock, onFailure } = options;
    this.#options = options;
    this.#presence = new AudiencePresence({ audiences, log: connection.log, signal: this.#closing.signal });
    this.#pace = new EmitterPace(ratePerSecond, clock.monotonicMs());
    this.#consumer = createWindowedConsumer<Taken>(connection, {
      groupId: names.audienceEmitterGroup,
      topics: [names.audiences],
      window: WINDOW,
      schemaOf: codec.prefetch,
      take: (record) => this.#take(record),
      laneOf: () => null,
      run: (task) => this.#run(task),
      onFailure,
      timing: { stopDrainMs: DRAIN_MS, unknownSchemaMs },
    });
  }

  /** Resolves when the group was joined. */
  start(): Promise<void> {
    return this.#consumer.start();
  }

  async stop(): Promise<void> {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#consumer.stop();
  }

  /** Decodes a record. Null for one that becomes no identify: a fence, a tombstone. */
  #take({ value }: IncomingRecord): Taken {
    if (value === null) return null;
    const record = decodeOrReason(this.#options.codec, value);
    if (record instanceof PosthasteError) return record;
    const { userId, valueJson } = record;
    return userId === null || valueJson === null ? null : { ...record, userId, valueJson };
  }

  /** Queues a record. One that no schema reads is quarantined, and finished when the brokers have acknowledged that. */
  #run(task: Task<Taken>): Promise<void> | undefined {
    if (task.item instanceof PosthasteError) return this.#options.unreadable.put(task.record, task.item);
    if (task.item === null) {
      task.finish();
      return undefined;
    }
    this.#waiting.push(task);
    // The step does not run at once, since finishing a task brings the next one here.
    this.#stepIn(0);
    return undefined;
  }

  /** AE2, AE3. */
  #step(): void {
    this.#timer = null;
    if (this.#isClosed) return;
    const nowMs = this.#options.clock.monotonicMs();
    const ready: Task<Taken>[] = [];
    const gone: Task<Taken>[] = [];
    let looked = 0;
    for (const task of this.#waiting) {
      // Another process emits the records of a partition that was given up meanwhile.
      if (!task.window.isRevoked && isReported(task.item)) {
        const presence = this.#presence.of(task.item);
        if (presence === "unknown") this.#learn(task.item);
        if (presence === "unknown" || (presence === "there" && !this.#pace.takeTurn(nowMs))) break;
        (presence === "there" ? ready : gone).push(task);
      }
      looked += 1;
    }
    this.#waiting.splice(0, looked);
    if (ready.length > 0) this.#send(ready);
    for (const task of gone) task.finish();
    if (gone.length > 0) this.#options.onDropped(gone.length);
    if (this.#waiting.length > 0) this.#stepIn(this.#pace.nextStepMs(nowMs));
  }

  /** Plans a step, unless one is planned or the first task waits for its audience to be looked up. */
  #stepIn(ms: number): void {
    if (this.#timer !== null || this.#isLearning || this.#isClosed) return;
    this.#timer = setTimeout(() => this.#step(), ms);
  }

  /** AE4. Looks up the audience of the first task; the others wait behind it, in their order. */
  #learn(reported: Reported): void {
    if (this.#isLearning) return;
    this.#isLearning = true;
    this.#presence.learn(reported).then(() => {
      this.#isLearning = false;
      this.#stepIn(0);
    }, this.#options.onFailure);
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** AE1. */
  #send(tasks: readonly Task<Taken>[]): void {
    const { producer, onEmitted, onFailure } = this.#options;
    const records = tasks.flatMap(({ item }) => (isReported(item) ? [this.#toRecord(item)] : []));
    producer.send(records).then(
      () => {
        for (const task of tasks) task.finish();
        onEmitted(records.length);
      },
      (reason: Error) => {
        if (!this.#isClosed) onFailure(reason);
      },
    );
  }

  #toRecord(reported: Reported): OutgoingRecord {
    const { names, events, clock } = this.#options;
    const { audienceId, kind, sourceId, userId, trait, valueJson, changedAtMs } = reported;
    const messageId = messageIdOf(reported);
    const event: Event = {
      ...plainEvent({ messageId, sourceId, type: "identify", userId, nowMs: clock.nowMs() }),
      timestampMs: changedAtMs,
      traitsJson: `{${JSON.stringify(trait)}:${valueJson}}`,
      contextJson: JSON.stringify({ posthaste: { kind, id: audienceId } }),
    };
    return { topic: names.events, key: eventKey(sourceId, event), value: events.encode(event) };
  }
}

/** The message id, which is the same for a record that was written or read twice, and for no other. */
function messageIdOf({ audienceId, userId, revision, changedAtMs }: Reported): string {
  const said = JSON.stringify([audienceId, userId, revision, changedAtMs]);
  return `${audienceId}-${createHash("sha256").update(said).digest("base64url").slice(0, 22)}`;
}
