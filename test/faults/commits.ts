/** When a group's committed offsets rose, as its coordinator says. */
import type { ClusterView } from "@posthaste/local-stack/cluster-view";
import { pause } from "./pause.ts";
import { createTimeline, type Timeline } from "./timeline.ts";

export interface CommitWatch {
  readonly commits: Timeline;
  readonly stop: () => Promise<void>;
}

/**
 * Asks for a group's commits every `pollMs`; a question that nobody answers in time is given up, and the next one
 * asked.
 */
export function watchCommits(
  view: Pick<ClusterView, "committedSum">,
  { groupId, pollMs }: { readonly groupId: string; readonly pollMs: number },
): CommitWatch {
  const commits = createTimeline();
  let [stopped, highest] = [false, 0];
  const loop = async (): Promise<void> => {
    while (!stopped) {
      // Nobody coordinates the group while its broker is down.
      const sum = await view.committedSum(groupId).catch(() => 0);
      if (sum > highest) commits.mark(performance.now());
      highest = Math.max(highest, sum);
      await pause(pollMs);
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
