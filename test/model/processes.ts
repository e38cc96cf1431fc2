/**
 * The processes of a run: started, killed, stopped in good order, and started again.
 *
 * Owns: which of them are there. One that ended is gone with all that it had in memory; another takes its place.
 */
import type { CommitWitness } from "./commit-witness.ts";
import { startDeliveryService } from "./delivery-service.ts";
import { describeError } from "./describe-error.ts";
import type { Group } from "./group.ts";
import { type Installation, TIMING } from "./installation.ts";
import { ModelConnection } from "./model-connection.ts";
import { ModelProcess, type ServiceKind } from "./model-process.ts";
import { Network } from "./network.ts";
import { startRouterService } from "./router-service.ts";

const RESTART_MS = 1000;
const MOST = 8;

export interface ProcessesOptions {
  readonly installation: Installation;
  readonly groups: ReadonlyMap<string, Group>;
  readonly commits: CommitWitness;
}

export class Processes {
  readonly #options: ProcessesOptions;
  readonly #alive: ModelProcess[] = [];
  #made = 0;

  constructor(options: ProcessesOptions) {
    this.#options = options;
  }

  /** Those that live, in the order of their start. */
  get alive(): readonly ModelProcess[] {
    return this.#alive;
  }

  /** One of them by any number; undefined when none lives. */
  at(number: number): ModelProcess | undefined {
    return this.#alive[number % this.#alive.length];
  }

  /** One more, unless there are many. */
  join(kind: ServiceKind): void {
    if (this.#alive.length < MOST) this.start(kind);
  }

  start(kind: ServiceKind): void {
    const id = `${kind}-${this.#made++}`;
    const { installation, groups, commits } = this.#options;
    const { world, random, log } = installation;
    const process = new ModelProcess(id, kind, (owner) => {
      const network = new Network(world, random, owner);
      const connection = new ModelConnection({
        ...{ world, random, owner, log, network, groups },
        heartbeatMs: TIMING.heartbeatIntervalMs ?? 0,
        onCommit: (attempt) => commits.committing(id, attempt),
        onPlace: (groupId, place, committed) => commits.gained(id, groupId, place, committed, world.nowMs),
      });
      return { network, connection };
    });
    this.#alive.push(process);
    const startService = kind === "router" ? startRouterService : startDeliveryService;
    world.runAs(process, () => {
      startService(process, installation).then(
        (service) => {
          process.service = service;
        },
        (error: unknown) => this.failed(id, error instanceof Error ? error : new Error(String(error))),
      );
    });
  }

  /** The process is gone, with all that it had in memory; another takes its place. */
  end(process: ModelProcess, forMs: number): void {
    if (!process.isAlive) return;
    process.isAlive = false;
    this.#alive.splice(this.#alive.indexOf(process), 1);
    this.#options.installation.world.after(forMs, null, () => this.start(process.kind));
  }

  /** Its service cannot go on. An error that is none of ours violates OC0 of outcome-check.ts. */
  failed(processId: string, reason: Error): void {
    if (Reflect.get(reason, "code") === "internal" || !("code" in reason)) {
      this.#options.installation.onViolation(`OC0 ${processId} failed: ${describeError(reason)}`);
    }
    const process = this.#alive.find(({ id }) => id === processId);
    if (process !== undefined) this.end(process, RESTART_MS);
  }

  /** In good order: its running tasks may be finished, then another takes its place. */
  stop(process: ModelProcess, forMs: number): void {
    const { service } = process;
    if (service === null) {
      this.end(process, forMs);
      return;
    }
    this.#options.installation.world.runAs(process, () => {
      service.stop().then(
        () => this.end(process, forMs),
        (error: unknown) =>
          this.#options.installation.onViolation(`OC0 ${process.id} did not stop: ${describeError(error)}`),
      );
    });
  }
}
