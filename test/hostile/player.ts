/** Starts the process that plays streams (player-process.ts). */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Orders, Played } from "./player-process.ts";

export interface Player {
  /** The port of its receiver. */
  readonly port: number;
  play(orders: Orders): void;
  /** Tells what was played, and leaves all connections. */
  rest(): Promise<Played>;
}

export async function startPlayer(): Promise<Player> {
  const child: ChildProcess = fork(fileURLToPath(new URL("./player-process.ts", import.meta.url)), { execArgv: [] });
  const [port] = await once(child, "message");
  child.unref();
  child.channel?.unref();
  return {
    port: Number(port),
    play: (orders) => child.send(orders),
    rest: async () => {
      child.send("rest");
      const [played] = await once(child, "message");
      return played as Played;
    },
  };
}
