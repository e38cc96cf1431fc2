/** When a group's committed offsets rose, as its coordinator says. */
import type { ClusterView } from "@posthaste/local-stack/cluster-view";
import { pause } from "./pause.ts";
import { createTimeline, type Timeline } from "./timeline.ts";

const POLL_MS = 100;

export interface CommitWatch {
  readonly commits: Timeline;
  readonly stop: () => Promise<void>;
}

/** Asks again and again; a question that nobody answers in time is given up, and the next one asked. */
export function watchCommits(view: Pick<ClusterView, "committedSum">, groupId: string): CommitWatch {
  const commits = createTimeline();
  let [stopped, highest] = [false, 0];
  const loop = async (): Promise<void> => {
    while (!stopped) {
      // Nobody coordinates the group while its broker is down.
      const sum = await view.committedSum(groupId).catch(() => 0);
      if (sum > highest) commits.mark(performance.now());
      highest = Math.max(highest, sum);
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
