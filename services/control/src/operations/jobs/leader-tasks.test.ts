import { setImmediate as nextTurn } from "node:timers/promises";
import { SILENT_LOG } from "@posthaste/core/log";
import { expect, it } from "vitest";
import { type LeaderTask, LeaderTasks } from "./leader-tasks.ts";

/** Leads for so many rounds. */
async function leadFor(rounds: number, tasks: Readonly<Record<string, LeaderTask>>): Promise<void> {
  const leading = new AbortController();
  let round = 0;
  const pause = async () => {
    round += 1;
    await nextTurn();
    if (round === rounds) leading.abort();
  };
  const leader = new LeaderTasks({ log: SILENT_LOG, pause });
  for (const [name, task] of Object.entries(tasks)) leader.add(name, task);
  await leader.lead(leading.signal);
}

it("each task is done in each round, also behind one that fails, or throws (leader-tasks 1)", async () => {
  const done: string[] = [];
  const broken = async (): Promise<void> => {
    done.push("broken");
    throw new Error("no broker");
  };
  const throwing = (): Promise<void> => {
    done.push("throwing");
    throw new Error("a bug");
  };
  const sound = async (): Promise<void> => void done.push("sound");
  await leadFor(2, { broken, throwing, sound });
  expect(done).toEqual(["broken", "throwing", "sound", "broken", "throwing", "sound"]);
});

it("a task that does not end holds up no other, and is begun again once it has ended (leader-tasks 1)", async () => {
  const done: string[] = [];
  const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const silent = (): Promise<void> => {
    done.push("silent");
    return answers[done.filter((name) => name === "silent").length - 1]?.promise ?? Promise.resolve();
  };
  const sound = async (): Promise<void> => {
    done.push("sound");
    if (done.length === 3) answers[0]?.resolve();
  };
  await leadFor(3, { silent, sound });
  expect(done).toEqual(["silent", "sound", "sound", "silent", "sound"]);
});

it("no task begins once another process leads, and the one under way hears of it (leader-tasks 2)", async () => {
  const leading = new AbortController();
  const done: string[] = [];
  const heard = Promise.withResolvers<void>();
  const leader = new LeaderTasks({ log: SILENT_LOG, pause: async () => undefined });
  leader.add("first", async (signal) => {
    done.push("first");
    signal.addEventListener("abort", () => heard.resolve());
    leading.abort();
  });
  leader.add("second", async () => void done.push("second"));
  await leader.lead(leading.signal);
  await heard.promise;
  expect(done).toEqual(["first"]);
});
