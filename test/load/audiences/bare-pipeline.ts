/**
 * The comparison for the installation's pipeline: three processes of plain kafkajs that accept a call, pass it on from
 * one topic to another, and post it. A step that takes long here takes long for the machine.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createTopic, uniqueName } from "@posthaste/testkit/topics";

export interface BareStage {
  readonly stage: "accept" | "route" | "post";
  readonly brokers: readonly string[];
  /** The topic that it reads; none of `accept`. */
  readonly from: string;
  /** The topic that it writes to; none of `post`. */
  readonly to: string;
  /** Where `post` posts to. */
  readonly url: string;
}

export interface BarePipeline {
  /** Takes calls as ingest does, each of which has a `messageId`. */
  readonly url: string;
  /** The topic that `route` reads; the key of each record is its message's id. */
  readonly topic: string;
  readonly stop: () => Promise<void>;
}

const STAGE = fileURLToPath(new URL("./bare-stage.ts", import.meta.url));
const PARTITIONS = 6;

/** Resolves when all of it works. */
export async function startBarePipeline(brokers: readonly string[], url: string): Promise<BarePipeline> {
  const [first, second] = [uniqueName("bare"), uniqueName("bare")];
  for (const topic of [first, second]) await createTopic(topic, { partitions: PARTITIONS, brokers });
  const about = { brokers, url };
  const stages = await Promise.all([
    startStage({ ...about, stage: "accept", from: "", to: first }),
    startStage({ ...about, stage: "route", from: first, to: second }),
    startStage({ ...about, stage: "post", from: second, to: "" }),
  ]);
  return {
    url: `http://127.0.0.1:${stages[0].said}`,
    topic: first,
    stop: async () => {
      await Promise.all(stages.map(({ stop }) => stop()));
    },
  };
}

async function startStage(stage: BareStage) {
  const child = spawn(process.execPath, [STAGE, JSON.stringify(stage)], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [said] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(() => {
      throw new Error(`the bare pipeline's stage ${stage.stage} ended by itself`);
    }),
  ]);
  return {
    said: String(said),
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
