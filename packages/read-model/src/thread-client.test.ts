import { EventEmitter } from "node:events";
import type { Worker } from "node:worker_threads";
import { beforeEach, describe, expect, it } from "vitest";
import { ThreadClient } from "./thread-client.ts";

class FakeWorker extends EventEmitter {
  readonly sent: { readonly id: number; readonly call: string }[] = [];
  terminated = 0;
  postMessage(call: { readonly id: number; readonly call: string }): void {
    this.sent.push(call);
  }
  async terminate(): Promise<void> {
    this.terminated += 1;
  }
}

let worker: FakeWorker;
let client: ThreadClient<string>;
let failures: unknown[];

beforeEach(() => {
  worker = new FakeWorker();
  failures = [];
  client = new ThreadClient<string>(worker as unknown as Worker, {
    failed: (cause) => new Error("it failed", { cause }),
    closed: () => new Error("it is closed"),
    onFailure: (reason) => failures.push(reason),
  });
});

describe("a thread's answers", () => {
  it("go to their calls, in whatever order they come, and the start to who waits for it", async () => {
    const [one, two] = [client.ask("one"), client.ask("two")];
    expect(worker.sent).toEqual([
      { id: 1, call: "one" },
      { id: 2, call: "two" },
    ]);
    worker.emit("message", { id: 1, value: "first" });
    worker.emit("message", { id: 0, value: "started" });
    worker.emit("message", { id: 2, value: "second" });
    expect(await Promise.all([one, two, client.started()])).toEqual(["first", "second", "started"]);
  });
});

describe("a thread that ends", () => {
  it("by a failure rejects what waits and what comes, and is told of once", async () => {
    const [waiting, started] = [client.ask("one"), client.started()];
    worker.emit("error", "why");
    worker.emit("exit");
    await expect(waiting).rejects.toMatchObject({ message: "it failed", cause: "why" });
    await expect(started).rejects.toThrow("it failed");
    await expect(client.ask("two")).rejects.toThrow("it failed");
    expect(failures).toHaveLength(1);
    expect(worker.sent).toHaveLength(1);
  });

  it("when it was asked to does what the last call says before, and is no failure", async () => {
    const closing = client.close("close");
    worker.emit("message", { id: 0, value: null });
    expect([worker.sent.map(({ call }) => call), worker.terminated]).toEqual([["close"], 0]);
    worker.emit("message", { id: 1, value: null });
    await closing;
    worker.emit("exit");
    expect(worker.terminated).toBe(1);
    await expect(client.ask("late")).rejects.toThrow("it is closed");
    expect(failures).toEqual([]);
  });
});
