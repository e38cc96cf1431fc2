/**
 * How much comes in, how far the services are behind and how much waits in retry topics, by the offsets of the topics
 * and the groups.
 *
 * Owns: the last looks at the brokers, what stands still by them, the list of retry topics, one connection to ask for
 * the topics' ids, and the timer.
 * FM1  A look that fails leaves what was known, and tells nobody: the next one comes in seconds.
 * FM2  The retry topics are listed every `LIST_EVERY_LOOKS` looks, and anew after a look that failed: one of them may
 *      be gone. A retry topic that was made since the last list is counted within a minute.
 */
import { delayMsFromRetryTopic, type TopicNames } from "@posthaste/contracts/topics";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { TopicIdQuestion, type TopicIds } from "@posthaste/kafka/connection/topic-id";
import { existingRetryTopics } from "@posthaste/kafka/topics/topic-admin";
import { type UnfinishedRange, unfinishedBelow, unfinishedOfGroups } from "../pipeline/unfinished-range.ts";
import { LagWatch, type StalledPartition } from "./lag-watch.ts";

const LOOK_MS = 5000;
/** Looks over which what comes in is told. */
const LOOKS = 12;
/** Once a minute: a retry topic is made by whoever changes the schedule of retries. */
const LIST_EVERY_LOOKS = 12;

export interface Flow {
  /** Events a second, of the last minute; null before the second look. */
  readonly receivedPerSecond: number | null;
  /** Records that are not finished; null where that is not known. */
  readonly routerLag: number | null;
  readonly deliveryLag: number | null;
  /** Records in retry topics, by delay. */
  readonly waiting: readonly { readonly delayMs: number; readonly count: number }[];
}

export interface FlowMeterOptions {
  readonly connection: KafkaConnection;
  readonly names: TopicNames;
  readonly monotonicMs: () => number;
  /** From the end of a look to the next one; default 5,000. */
  readonly everyMs?: number;
}

interface Look {
  readonly atMs: number;
  readonly events: number;
}

const NOTHING_KNOWN: Flow = { receivedPerSecond: null, routerLag: null, deliveryLag: null, waiting: [] };

export class FlowMeter {
  readonly #options: FlowMeterOptions;
  readonly #looks: Look[] = [];
  readonly #lag = new LagWatch();
  #flow = NOTHING_KNOWN;
  #retryTopics: readonly string[] = [];
  /** Looks until the retry topics are listed again. */
  #listAfterLooks = 0;
  #ids: { readonly of: string; readonly question: TopicIdQuestion } | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: FlowMeterOptions) {
    this.#options = options;
  }

  get flow(): Flow {
    return this.#flow;
  }

  /** Partitions whose group finishes nothing of what waits in them. */
  stalled(): readonly StalledPartition[] {
    return this.#lag.stalled(this.#options.monotonicMs());
  }

  start(): void {
    void this.#lookOn();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#closeQuestion();
  }

  /** FM1. */
  async #lookOn(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      this.#listAfterLooks = 0;
      this.#closeQuestion();
      this.#options.connection.log.debug({ event: "flow_unknown", err: error });
    }
    const { everyMs = LOOK_MS } = this.#options;
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#lookOn(), everyMs);
  }

  async #look(): Promise<void> {
    const { connection, names, monotonicMs } = this.#options;
    const retryTopics = await this.#listRetryTopics();
    const groups = [
      { groupId: names.routerGroup, topics: [names.events] },
      { groupId: names.deliveryGroup, topics: [names.deliveries] },
      { groupId: names.retryGroup, topics: retryTopics },
    ];
    const ranges = await unfinishedOfGroups(connection, groups, (topics) => this.#readIds(topics));
    const nowMs = monotonicMs();
    const delayMsOf = (topic: string) => delayMsFromRetryTopic(names, topic) ?? 0;
    for (const { groupId, topics } of groups) {
      for (const range of ranges.filter(({ topic }) => topics.includes(topic))) {
        this.#lag.see(range, { groupId, delayMs: delayMsOf(range.topic), nowMs });
      }
    }
    const behind = (topic: string) =>
      ranges.reduce((sum, range) => sum + (range.topic === topic ? unfinishedBelow(range, range.end) : 0), 0);
    this.#looks.push({ atMs: nowMs, events: sumOfEnds(ranges, names.events) });
    if (this.#looks.length > LOOKS) this.#looks.shift();
    this.#flow = {
      receivedPerSecond: this.#received(),
      routerLag: behind(names.events),
      deliveryLag: behind(names.deliveries),
      waiting: retryTopics.map((topic) => ({ delayMs: delayMsOf(topic), count: behind(topic) })),
    };
  }

  /** FM2. */
  async #listRetryTopics(): Promise<readonly string[]> {
    if (this.#listAfterLooks <= 0) {
      const { connection, names } = this.#options;
      this.#retryTopics = await existingRetryTopics(connection, names);
      this.#listAfterLooks = LIST_EVERY_LOOKS;
    }
    this.#listAfterLooks -= 1;
    return this.#retryTopics;
  }

  /** By one connection for as long as the topics are the same and no look fails. */
  async #readIds(topics: readonly string[]): Promise<TopicIds> {
    const of = topics.join(" ");
    if (this.#ids?.of !== of) this.#closeQuestion();
    this.#ids ??= { of, question: new TopicIdQuestion(this.#options.connection, topics) };
    const { question } = this.#ids;
    const found = await question.ask();
    if (this.#isClosed) question.close();
    return found;
  }

  #closeQuestion(): void {
    this.#ids?.question.close();
    this.#ids = null;
  }

  #received(): number | null {
    const [first, last] = [this.#looks[0], this.#looks.at(-1)];
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return null;
    return Math.max(0, ((last.events - first.events) * 1000) / (last.atMs - first.atMs));
  }
}

function sumOfEnds(ranges: readonly UnfinishedRange[], ofTopic: string): number {
  return ranges.reduce((sum, { topic, end }) => sum + (topic === ofTopic ? end : 0), 0);
}
