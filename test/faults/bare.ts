/** Bare kafkajs beside the system: a process of its own that meets the same faults, and when it got on. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually } from "@posthaste/testkit/eventually";
import { createTopic, uniqueName } from "@posthaste/testkit/topics";
import type { Cluster } from "./broker-faults.ts";
import { toOwnMs } from "./machine-clock.ts";
import { createTimeline, type Timeline } from "./timeline.ts";

const program = fileURLToPath(new URL("./bare-process.ts", import.meta.url));
/** As many as the system's topics have, so that each broker leads some. */
const PARTITIONS = 6;
const MOST_GROUPS_TRIED = 200;

export interface Bare {
  readonly acknowledgements: Timeline;
  readonly consumption: Timeline;
  readonly refused: () => number;
  /** How often its consumer crashed; kafkajs starts it again after most crashes. */
  readonly crashes: () => number;
  /** Ends it without a goodbye. */
  readonly stop: () => Promise<void>;
}

/** Starts it with a topic and a group of its own, whose coordinator is the delivery group's. */
export async function startBare(cluster: Cluster): Promise<Bare> {
  const { brokers } = cluster.system.stack;
  const topic = await createTopic(uniqueName("bare"), { partitions: PARTITIONS, replicationFactor: 3, brokers });
  const groupId = await groupBesideDelivery(cluster);
  const args = ["--no-warnings", program, brokers.join(","), topic, groupId];
  // Under vitest's NODE_ENV kafkajs takes other retries than it has by default.
  const env = { ...process.env, NODE_ENV: undefined };
  return follow(spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "inherit"] }));
}

function follow(child: ChildProcess): Bare {
  const [acknowledgements, consumption] = [createTimeline(), createTimeline()];
  let [refused, crashes] = [0, 0];
  const exited = once(child, "exit");
  const note = (line: string): void => {
    const [event, atMs] = line.split(" ");
    if (event === "a") acknowledgements.mark(toOwnMs(Number(atMs)));
    if (event === "c") consumption.mark(toOwnMs(Number(atMs)));
    if (event === "r") refused += 1;
    if (event === "x") crashes += 1;
  };
  if (child.stdout !== null) createInterface({ input: child.stdout }).on("line", note);
  return {
    acknowledgements,
    consumption,
    refused: () => refused,
    crashes: () => crashes,
    stop: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** A new group that falls to the delivery group's coordinator; brokers choose by the group's name. */
async function groupBesideDelivery({ view, names }: Cluster): Promise<string> {
  const coordinatorOf = (groupId: string) => eventually(() => view.coordinatorOf(groupId));
  const coordinator = await coordinatorOf(names.deliveryGroup);
  for (let tried = 0; tried < MOST_GROUPS_TRIED; tried += 1) {
    const groupId = uniqueName("bare");
    if ((await coordinatorOf(groupId)) === coordinator) return groupId;
  }
  throw new Error(`no group of ${MOST_GROUPS_TRIED} falls to ${coordinator}`);
}
