/**
 * One process of the model: its clock, its way to the brokers, and whether it lives.
 *
 * Owns: nothing of the service that runs in it; that hangs on timers, which die with it (WD2).
 */
import type { ModelConnection } from "./model-connection.ts";
import type { Network } from "./network.ts";
import type { TimerOwner } from "./world.ts";

export type ServiceKind = "router" | "delivery";

/** A service that runs, as far as the model handles it. */
export interface RunningService {
  /** The groups that it is in, with the partitions that it has. */
  owned(): readonly { readonly groupId: string; readonly topic: string; readonly partition: number }[];
  stop(): Promise<void>;
}

export class ModelProcess implements TimerOwner {
  readonly id: string;
  readonly kind: ServiceKind;
  network: Network;
  connection: ModelConnection;
  isAlive = true;
  clockOffsetMs = 0;
  steppedAtMs = Number.NEGATIVE_INFINITY;
  service: RunningService | null = null;

  constructor(
    id: string,
    kind: ServiceKind,
    parts: (owner: TimerOwner) => { readonly network: Network; readonly connection: ModelConnection },
  ) {
    this.id = id;
    this.kind = kind;
    const { network, connection } = parts(this);
    this.network = network;
    this.connection = connection;
  }
}
