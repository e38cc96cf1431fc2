/**
 * One run: an installation of the model, the scenario's trouble, then quiet until nothing waits any more.
 *
 * Owns: the world and everything in it, from the first moment of the run to its last.
 */

import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { Event } from "@posthaste/core/event/event";
import { eventKey } from "@posthaste/core/routing/partition-key";
import { partitionOf } from "@posthaste/kafka/wire/murmur2";
import { CommitWitness } from "./commit-witness.ts";
import { startDeliveryService } from "./delivery-service.ts";
import { DeliveryWitness } from "./delivery-witness.ts";
import { type ConfigWrite, Destinations } from "./destinations.ts";
import { Group } from "./group.ts";
import { createCodecs, type Installation, NAMES, RETRY_TOPICS, SCHEDULE, SOURCE_ID, TIMING } from "./installation.ts";
import { ModelConnection } from "./model-connection.ts";
import { type LogRecord, ModelLog } from "./model-log.ts";
import { ModelProcess, type ServiceKind } from "./model-process.ts";
import { Network } from "./network.ts";
import { type AcknowledgedEvent, checkOutcome } from "./outcome-check.ts";
import { createRandom, type Random } from "./random.ts";
import { Receivers } from "./receivers.ts";
import { startRouterService } from "./router-service.ts";
import { type Action, type Scenario, TROUBLE_MS, USERS } from "./scenario.ts";
import { World } from "./world.ts";

/** What a run came to. */
export interface RunReport {
  /** What did not hold; none when all did. */
  readonly violations: readonly string[];
  readonly acknowledged: number;
  readonly delivered: number;
  readonly dead: number;
  readonly attempts: number;
  /** Of the world's time. */
  readonly tookMs: number;
  readonly steps: number;
}

/** More would say the same again. */
const MOST_VIOLATIONS = 5;
/** Till the first event for a destination that is new: the routers know it by then. */
const NEW_UNSEEN_MS = 200;
const RESTART_MS = 1000;
/** By then everything is delivered or dead: the window, what is late in it, and the rejoins before it. */
const LONGEST_QUIET_MS = 900_000;
const LOOK_EVERY_MS = 500;
/** C6: a second, and what an answer takes. */
const COMMIT_WITHIN_MS = 1500;

/** `without`: rules that are left out of account, by their names. */
export async function runScenario(scenario: Scenario, without: ReadonlySet<string> = new Set()): Promise<RunReport> {
  const run = new Run(scenario, without);
  return run.toEnd();
}

class Run {
  readonly #scenario: Scenario;
  readonly #without: ReadonlySet<string>;
  readonly #violations: string[] = [];
  readonly #world = new World((error) => this.#violated(`E0 thrown: ${describe(error)}`));
  readonly #random: Random;
  readonly #log: ModelLog;
  readonly #receivers = new Receivers();
  readonly #commits: CommitWitness;
  readonly #deliveries: DeliveryWitness;
  readonly #groups: ReadonlyMap<string, Group>;
  readonly #installation: Installation;
  readonly #processes: ModelProcess[] = [];
  readonly #codecs = createCodecs();
  readonly #events: AcknowledgedEvent[] = [];
  readonly #destinations: Destinations;
  readonly #written: { readonly id: string; readonly offset: number; readonly revision: number }[] = [];
  #sent = 0;
  #made = 0;
  #isQuiet = false;
  #isAtEnd = false;

  constructor(scenario: Scenario, without: ReadonlySet<string>) {
    this.#without = without;
    this.#scenario = scenario;
    this.#random = createRandom(scenario.seed);
    const logs = [NAMES.events, NAMES.deliveries, NAMES.deadLetters, ...RETRY_TOPICS];
    const topics = new Map(logs.map((topic) => [topic, scenario.partitions]));
    topics.set(NAMES.destinationConfig, 1);
    this.#log = new ModelLog(this.#world, topics, new Set(RETRY_TOPICS));
    const onViolation = (what: string) => this.#violated(what);
    this.#deliveries = new DeliveryWitness({
      log: this.#log,
      names: NAMES,
      deliveryCodec: this.#codecs.delivery,
      deadLetterCodec: this.#codecs.deadLetter,
      windowMs: SCHEDULE.windowMs,
      clocksAreTrue: scenario.actions.every(({ action }) => action.kind !== "clock" && action.kind !== "broker_clock"),
      onViolation,
    });
    this.#commits = new CommitWitness({
      log: this.#log,
      nowMs: () => this.#world.nowMs,
      onViolation,
      isFinishedUnrun: (groupId, record) => groupId === NAMES.deliveryGroup && this.#isDroppedRightly(record),
    });
    this.#groups = new Map(
      [
        [NAMES.routerGroup, [NAMES.events]] as const,
        [NAMES.deliveryGroup, [NAMES.deliveries]] as const,
        [NAMES.retryGroup, RETRY_TOPICS] as const,
      ].map(([groupId, subscribed]) => [groupId, this.#createGroup(groupId, subscribed)]),
    );
    this.#destinations = new Destinations(scenario, this.#receivers, (write) => this.#writeConfig(write));
    this.#installation = {
      ...{ world: this.#world, random: this.#random, scenario, log: this.#log, receivers: this.#receivers },
      ...{ commits: this.#commits, deliveries: this.#deliveries, onViolation },
      newestRevision: (destinationId, upTo) =>
        Math.max(
          ...this.#written
            .filter(({ id, offset }) => id === destinationId && offset <= upTo)
            .map((each) => each.revision),
        ),
      onServiceFailed: (processId, reason) => this.#onServiceFailed(processId, reason),
    };
  }

  async toEnd(): Promise<RunReport> {
    const world = this.#world;
    const onUnhandled = (reason: unknown) => this.#violated(`E0 unhandled: ${describe(reason)}`);
    process.on("unhandledRejection", onUnhandled);
    world.install();
    try {
      this.#begin();
      await world.run(TROUBLE_MS, () => this.#hasFailed);
      if (!this.#hasFailed) {
        this.#calm();
        await world.run(TROUBLE_MS + LONGEST_QUIET_MS, () => this.#hasFailed || this.#isAtEnd);
      }
      this.#judge();
    } finally {
      world.restore();
      process.off("unhandledRejection", onUnhandled);
    }
    return {
      violations: this.#violations,
      acknowledged: this.#events.length,
      delivered: this.#deliveries.taken.size,
      dead: this.#deliveries.deadLetters.length,
      attempts: this.#deliveries.attempts.length,
      tookMs: world.nowMs,
      steps: world.steps,
    };
  }

  get #hasFailed(): boolean {
    return this.#violations.length > 0;
  }

  /** `what` begins with the rule's name. */
  #violated(what: string): void {
    if (this.#without.has(what.slice(0, what.indexOf(" ")))) return;
    if (this.#violations.length < MOST_VIOLATIONS)
      this.#violations.push(`${Math.round(this.#world.nowMs)} ms: ${what}`);
  }

  #begin(): void {
    const { routers, deliverers, actions } = this.#scenario;
    this.#destinations.writeFirst();
    for (let index = 0; index < routers; index += 1) this.#startProcess("router");
    for (let index = 0; index < deliverers; index += 1) this.#startProcess("delivery");
    for (const { atMs, action } of actions) this.#world.after(atMs, null, () => this.#act(action));
    const look = () => {
      this.#look();
      this.#world.after(LOOK_EVERY_MS, null, look);
    };
    this.#world.after(LOOK_EVERY_MS, null, look);
  }

  /** Faults stop; what is down comes back by itself. URLs stay as they are. */
  #calm(): void {
    this.#isQuiet = true;
    for (const { connection } of this.#processes) connection.mend();
  }

  #judge(): void {
    if (this.#hasFailed) return;
    if (!this.#isAtEnd) this.#violated(`E5 something waits for ever: ${this.#waiting().join(", ")}`);
    checkOutcome({
      events: this.#events,
      destinations: this.#destinations.histories(),
      deliveries: this.#deliveries,
      dedupes: this.#scenario.dedupes,
      onViolation: (what) => this.#violated(what),
    });
  }

  /** Partitions in which something is not finished, as the groups' commits say. */
  #waiting(): readonly string[] {
    const waiting: string[] = [];
    for (const [groupId, topics] of GROUP_TOPICS) {
      const group = this.#groups.get(groupId);
      for (const topic of topics) {
        for (const { partition, end } of this.#log.partitionsOf(topic)) {
          const committed = group?.committedAt({ topic, partition })?.offset ?? 0;
          if (committed < end) waiting.push(`${topic}/${partition} ${committed} of ${end}`);
        }
      }
    }
    return waiting;
  }

  /**
   * D2: a second copy, or a delivery to a destination that comes or goes: of two routers whose tables differ the one that did
   * not know it wrote first, and what the other writes below that is passed over.
   */
  #isDroppedRightly(record: LogRecord): boolean {
    if (this.#deliveries.isSecondCopy(record)) return true;
    if (!this.#deliveries.isPassedOver(record)) return false;
    const { destinationId } = this.#codecs.delivery.decode(record.value ?? Buffer.alloc(0));
    return this.#destinations.histories().some(({ id, isSteady }) => id === destinationId && !isSteady);
  }

  /** C6: what was gained a while ago, in peace, must have been committed. */
  #look(): void {
    this.#isAtEnd = this.#isQuiet && this.#waiting().length === 0;
    for (const process of this.#processes) {
      if (!process.isAlive || process.network.quietForMs < COMMIT_WITHIN_MS) continue;
      for (const { groupId, topic, partition } of process.service?.owned() ?? []) {
        const group = this.#groups.get(groupId);
        if (group === undefined || group.quietForMs < COMMIT_WITHIN_MS + 1000) continue;
        const place = { topic, partition };
        const before = this.#world.nowMs - COMMIT_WITHIN_MS;
        this.#commits.checkGained(process.id, groupId, place, before);
        if (group.stableForMs < COMMIT_WITHIN_MS + 1000) continue;
        this.#commits.checkCommitted(process.id, groupId, place, group.committedAt(place), before);
      }
    }
  }

  #createGroup(groupId: string, topics: readonly string[]): Group {
    return new Group({
      world: this.#world,
      topics: () =>
        topics.flatMap((topic) => this.#log.partitionsOf(topic).map(({ partition }) => ({ topic, partition }))),
      sessionMs: TIMING.sessionTimeoutMs ?? 0,
      onCommitted: (committed) => this.#commits.accepted(groupId, committed),
    });
  }

  #startProcess(kind: ServiceKind): void {
    const id = `${kind}-${this.#made++}`;
    const world = this.#world;
    const process = new ModelProcess(id, kind, (owner) => {
      const network = new Network(world, this.#random, owner);
      const connection = new ModelConnection({
        ...{ world, random: this.#random, owner, log: this.#log, network, groups: this.#groups },
        heartbeatMs: TIMING.heartbeatIntervalMs ?? 0,
        onCommit: (attempt) => this.#commits.committing(id, attempt),
        onPlace: (groupId, place, committed) => this.#commits.gained(id, groupId, place, committed, world.nowMs),
      });
      return { network, connection };
    });
    this.#processes.push(process);
    const start = kind === "router" ? startRouterService : startDeliveryService;
    world.runAs(process, () => {
      start(process, this.#installation).then(
        (service) => {
          process.service = service;
        },
        (error: unknown) => this.#onServiceFailed(id, error instanceof Error ? error : new Error(String(error))),
      );
    });
  }

  /** The process is gone, with all that it had in memory; another takes its place. */
  #end(process: ModelProcess, forMs: number): void {
    if (!process.isAlive) return;
    process.isAlive = false;
    this.#processes.splice(this.#processes.indexOf(process), 1);
    this.#world.after(forMs, null, () => this.#startProcess(process.kind));
  }

  #onServiceFailed(processId: string, reason: Error): void {
    if (Reflect.get(reason, "code") === "internal" || !("code" in reason)) {
      this.#violated(`E0 ${processId} failed: ${describe(reason)}`);
    }
    const process = this.#processes.find(({ id }) => id === processId);
    if (process !== undefined) this.#end(process, RESTART_MS);
  }

  /** In good order: what it is at may be finished, then another takes its place. */
  #stop(process: ModelProcess, forMs: number): void {
    const { service } = process;
    if (service === null) {
      this.#end(process, forMs);
      return;
    }
    this.#world.runAs(process, () => {
      service.stop().then(
        () => this.#end(process, forMs),
        (error: unknown) => this.#violated(`E0 ${process.id} did not stop: ${describe(error)}`),
      );
    });
  }

  #act(action: Action): void {
    const process = "process" in action ? this.#processes[action.process % this.#processes.length] : undefined;
    switch (action.kind) {
      case "events":
        for (let index = 0; index < action.count; index += 1) this.#send(action.user, action.isRepeated);
        return;
      case "kill":
        if (process !== undefined) this.#end(process, action.forMs);
        return;
      case "stop":
        if (process !== undefined) this.#stop(process, action.forMs);
        return;
      case "join":
        if (this.#processes.length < 8) this.#startProcess(action.service);
        return;
      case "cut":
        process?.network.cut(action.forMs);
        return;
      case "slow":
        process?.network.slow(action.byMs, action.forMs);
        return;
      case "sends":
        process?.connection.failSends(action.faults);
        return;
      case "coordinator":
        [...this.#groups.values()][action.group % this.#groups.size]?.move(action.forMs);
        return;
      case "url":
        this.#destinations.setBehaviour(action.destination, action.url, action.behaviour);
        return;
      case "config":
        this.#destinations.change(action.destination, action.change);
        return;
      case "new_unseen":
        for (const each of this.#processes) {
          if (each.kind === "delivery") each.connection.holdReaders(action.forMs);
        }
        this.#destinations.add();
        this.#world.after(NEW_UNSEEN_MS, null, () => this.#send(action.user, false));
        return;
      case "lag":
        process?.connection.holdReaders(action.forMs);
        return;
      case "clock":
        if (process === undefined) return;
        process.clockOffsetMs += action.byMs;
        process.steppedAtMs = this.#world.nowMs;
        return;
      case "broker_clock":
        this.#log.clockOffsetMs += action.byMs;
        return;
      case "gap":
        this.#log.leaveOut(NAMES[action.topic], action.partition % this.#scenario.partitions, action.offsets);
        return;
    }
  }

  /** An event is acknowledged; `isRepeated`: its client had no answer, and sends it again. */
  #send(user: number, isRepeated: boolean): void {
    const messageId = `msg-${this.#sent++}`;
    const userId = `user-${user % USERS}`;
    const key = Buffer.from(eventKey(SOURCE_ID, { userId, anonymousId: null, messageId }));
    const partition = partitionOf(key, this.#scenario.partitions);
    const nowMs = Math.floor(this.#world.dayMs);
    const value = this.#codecs.event.encode({ ...EVENT, messageId, userId, timestampMs: nowMs, receivedAtMs: nowMs });
    for (const isDuplicate of isRepeated ? [false, true] : [false]) {
      const { offset } = this.#log.append(NAMES.events, partition, { key, value, timestampMs: nowMs });
      this.#events.push({ partition, offset, messageId, isDuplicate });
    }
  }

  #writeConfig({ id, destination, revision }: ConfigWrite): void {
    const { offset } = this.#log.append(NAMES.destinationConfig, 0, {
      key: Buffer.from(id),
      value: destination === null ? null : this.#codecs.destination.encode(destination),
      headers: { [REVISION_HEADER]: String(revision) },
      timestampMs: Math.floor(this.#world.dayMs),
    });
    this.#written.push({ id, offset, revision });
  }
}

const GROUP_TOPICS = [
  [NAMES.routerGroup, [NAMES.events]],
  [NAMES.deliveryGroup, [NAMES.deliveries]],
  [NAMES.retryGroup, RETRY_TOPICS],
] as const;

const EVENT: Omit<Event, "messageId" | "userId" | "timestampMs" | "receivedAtMs"> = {
  sourceId: SOURCE_ID,
  type: "track",
  anonymousId: null,
  integrations: {},
  event: "Tried",
  name: null,
  groupId: null,
  previousId: null,
  propertiesJson: "{}",
  traitsJson: null,
  contextJson: "{}",
  restJson: null,
};

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.stack})` : "";
  return `${error.message}${cause}`;
}
