/**
 * The flow: how many events come in, how far the services are behind, and how much waits in retry topics, by the
 * offsets of the topics and of the groups.
 *
 * Owns: the last looks at the brokers, the partitions that stand still by them, the list of retry topics, one
 * connection that asks for topic ids, and the timer.
 * FM1  A look that fails leaves the flow as it was, and reports to nobody: the next one comes in seconds.
 * FM2  The retry topics are listed every `LIST_EVERY_LOOKS` looks, and again after a look that failed, since one of
 *      them may be gone. A retry topic that was made since is counted within a minute.
 */
import { delayMsFromRetryTopic, type TopicNames } from "@posthaste/contracts/topics";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { TopicIdQuestion, type TopicIds } from "@posthaste/kafka/connection/topic-id";
import { existingRetryTopics } from "@posthaste/kafka/topics/topic-admin";
import { type UnfinishedRange, unfinishedBelow, unfinishedOfGroups } from "@posthaste/pipeline/unfinished-range";
import { LagWatch, type StalledPartition } from "./lag-watch.ts";

const LOOK_MS = 5000;
/** Over how many looks the rate of incoming events is told. */
const LOOKS = 12;
/**
 * The looks from one list of retry topics to the next: once a minute, since only a change of the retry schedule makes
 * topics.
 */
const LIST_EVERY_LOOKS = 12;

export interface Flow {
  /** Events a second within the last minute; null before the second look. */
  readonly receivedPerSecond: number | null;
  /** How many records the service has not finished; null where that is not known. */
  readonly routerLag: number | null;
  readonly deliveryLag: number | null;
  /** How many records wait in retry topics, by delay. */
  readonly waiting: readonly { readonly delayMs: number; readonly count: number }[];
}

export interface FlowMeterOptions {
  readonly connection: KafkaConnection;
  readonly names: TopicNames;
  readonly monotonicMs: () => number;
  /** Ms from the end of a look to the next one; default 5,000. */
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
  /** How many looks are left until the retry topics are listed again. */
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

  /** The partitions with waiting records of which the group finishes none. */
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

  /** Reads topic ids, over one connection for as long as the topics are the same and no look fails. */
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
