/** Starts the process that plays streams (player-process.ts). */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Orders, Played } from "./player-process.ts";

export interface Player {
  /** The port of its receiver. */
  readonly port: number;
  play(orders: Orders): void;
  report(): Promise<Played>;
  stop(): Promise<void>;
}

export async function startPlayer(): Promise<Player> {
  const child: ChildProcess = fork(fileURLToPath(new URL("./player-process.ts", import.meta.url)), { execArgv: [] });
  const [port] = await once(child, "message");
  child.unref();
  child.channel?.unref();
  return {
    port: Number(port),
    play: (orders) => child.send(orders),
    report: async () => {
      child.send("report");
      const [played] = await once(child, "message");
      return played as Played;
    },
    stop: async () => {
      const exited = once(child, "exit");
      child.ref();
      child.disconnect();
      await exited;
    },
  };
}
