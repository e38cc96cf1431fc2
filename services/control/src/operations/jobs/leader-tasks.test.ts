import { SILENT_LOG } from "@posthaste/core/log";
import { expect, it } from "vitest";
import { LeaderTasks } from "./leader-tasks.ts";

/** Leads for so many rounds. */
async function leadFor(rounds: number, tasks: Readonly<Record<string, () => Promise<void>>>): Promise<void> {
  const leading = new AbortController();
  let round = 0;
  const pause = async () => {
    round += 1;
    if (round === rounds) leading.abort();
  };
  const leader = new LeaderTasks({ log: SILENT_LOG, pause });
  for (const [name, task] of Object.entries(tasks)) leader.add(name, task);
  await leader.lead(leading.signal);
}

it("each task is done in each round, also behind one that fails (leader-tasks 1)", async () => {
  const done: string[] = [];
  const broken = async (): Promise<void> => {
    done.push("broken");
    throw new Error("no broker");
  };
  const sound = async (): Promise<void> => void done.push("sound");
  await leadFor(2, { broken, sound });
  expect(done).toEqual(["broken", "sound", "broken", "sound"]);
});

it("no task begins once another process leads", async () => {
  const leading = new AbortController();
  const done: string[] = [];
  const leader = new LeaderTasks({ log: SILENT_LOG, pause: async () => undefined });
  leader.add("first", async () => {
    done.push("first");
    leading.abort();
  });
  leader.add("second", async () => void done.push("second"));
  await leader.lead(leading.signal);
  expect(done).toEqual(["first"]);
});
