/** When a group's committed offsets rose, as the brokers say. */
import { createTestKafka } from "@posthaste/testkit/broker";
import { createTimeline, type Timeline } from "./timeline.ts";

const POLL_MS = 250;
const ANSWER_TIMEOUT_MS = 1_500;

export interface CommitWatch {
  readonly commits: Timeline;
  readonly stop: () => Promise<void>;
}

/** Asks every quarter of a second, one question at a time; a question that a broker does not answer is given up. */
export function watchCommits(brokers: readonly string[], groupId: string, topic: string): CommitWatch {
  const commits = createTimeline();
  let [stopped, last] = [false, 0];
  const ask = async (): Promise<void> => {
    const admin = createTestKafka(brokers).admin();
    try {
      await admin.connect();
      const [fetched] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const total = (fetched?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
      if (total > last) commits.mark(performance.now());
      last = total;
    } finally {
      await admin.disconnect();
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopped) {
      await Promise.race([ask().catch(() => {}), pause(ANSWER_TIMEOUT_MS)]);
      await pause(POLL_MS);
    }
  };
  const done = loop();
  return {
    commits,
    stop: async () => {
      stopped = true;
      await done;
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
