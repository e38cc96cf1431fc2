/** Rule: IN4 of topic-generation.ts, where several processes write the same number one after the other, as told. */
import { createTopicNames, type TopicNames, topicCatalogue } from "@posthaste/contracts/topics";
import { deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { applyTopics } from "../src/topics/topic-admin.ts";
import { type EventsLog, raiseEventsLog } from "../src/topics/topic-generation.ts";
import { connectTest } from "./harness.ts";

type Admin = Parameters<Parameters<KafkaConnection["withAdmin"]>[0]>[0];

/** A process that raises the topic generation, held before it writes and before it reads the present record. */
class HeldRaiser {
  readonly #connection = connectTest();
  readonly #willWrite = Promise.withResolvers<void>();
  readonly #mayWrite = Promise.withResolvers<void>();
  readonly #hasWritten = Promise.withResolvers<void>();
  readonly #mayRead = Promise.withResolvers<void>();
  #isWriting = false;
  readonly #raised: Promise<EventsLog>;

  constructor(names: TopicNames, topicId: string, nowMs: number) {
    const held: KafkaConnection = {
      ...this.#connection,
      withAdmin: (use) => this.#connection.withAdmin((admin, cluster) => use(this.#holding(admin), cluster)),
    };
    this.#raised = raiseEventsLog(held, names, topicId, nowMs);
  }

  /** Lets it read which number is the next. */
  async read(): Promise<void> {
    await Promise.race([this.#willWrite.promise, this.#raised]);
  }

  /** Lets it write that number. */
  async write(): Promise<void> {
    this.#mayWrite.resolve();
    await Promise.race([this.#hasWritten.promise, this.#raised]);
  }

  /** Lets it look at the present record, and go on as it likes. */
  async goOn(): Promise<EventsLog> {
    this.#mayRead.resolve();
    return this.#raised;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** A producer asks for the cluster before it writes; a reader of a topic asks for its offsets. */
  #holding(admin: Admin): Admin {
    return {
      ...admin,
      describeCluster: async () => {
        this.#willWrite.resolve();
        await this.#mayWrite.promise;
        this.#isWriting = true;
        return admin.describeCluster();
      },
      fetchTopicOffsets: async (topic) => {
        if (this.#isWriting) {
          this.#hasWritten.resolve();
          await this.#mayRead.promise;
        }
        return admin.fetchTopicOffsets(topic);
      },
    };
  }
}

let connection: KafkaConnection;
let prefix: string;
let names: TopicNames;
const raisers: HeldRaiser[] = [];

beforeEach(async () => {
  connection = connectTest();
  prefix = uniqueName("topics");
  names = createTopicNames(prefix);
  const catalogue = topicCatalogue({ names, partitions: 1, retryDelaysMs: [] });
  await applyTopics(connection, catalogue, { replicationFactor: 1, minInsyncReplicas: 1, names });
});
afterEach(async () => {
  for (const raiser of raisers.splice(0)) await raiser.close();
  await connection.close();
  await deleteTopics(prefix);
});

const idOf = (name: string) => name.padEnd(22, "0");

it("IN4: a number that two wrote is of who wrote it first, also when a third raised it before they look", async () => {
  const nowMs = Date.now() + 60_000;
  const [first, second] = ["first", "second"].map((name) => new HeldRaiser(names, idOf(name), nowMs)) as [
    HeldRaiser,
    HeldRaiser,
  ];
  raisers.push(first, second);
  await Promise.all([first.read(), second.read()]);
  await first.write();
  await second.write();
  const third = await raiseEventsLog(connection, names, idOf("third"), nowMs);
  const [ofFirst, ofSecond] = [await first.goOn(), await second.goOn()];
  expect(ofFirst).toEqual({ topicGeneration: Math.floor(nowMs / 1000), topicId: idOf("first") });
  expect(third).toEqual({ topicGeneration: ofFirst.topicGeneration + 1, topicId: idOf("third") });
  expect(ofSecond).toEqual({ topicGeneration: third.topicGeneration + 1, topicId: idOf("second") });
});
