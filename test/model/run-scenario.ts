/**
 * One run: an installation of the model, the scenario's trouble, then quiet until nothing waits any more.
 *
 * Owns: the world and everything in it, from the first moment of the run to its last.
 */

import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { createRandom, type Random } from "@posthaste/testkit/random";
import { CommitWitness } from "./commit-witness.ts";
import { type Committing, checkGains, GROUP_TOPICS, waitingPartitions } from "./committing.ts";
import { DeliveryWitness } from "./delivery-witness.ts";
import { describeError } from "./describe-error.ts";
import { type ConfigWrite, Destinations } from "./destinations.ts";
import { Group } from "./group.ts";
import { createCodecs, type Installation, NAMES, RETRY_TOPICS, SCHEDULE, TIMING } from "./installation.ts";
import { type LogRecord, ModelLog } from "./model-log.ts";
import { checkOutcome } from "./outcome-check.ts";
import { Processes } from "./processes.ts";
import { Receivers } from "./receivers.ts";
import { type Action, type Scenario, TROUBLE_MS } from "./scenario.ts";
import { SentEvents } from "./sent-events.ts";
import { World } from "./world.ts";

/** The result of a run. */
export interface RunReport {
  /** The violated invariants; none when all held. */
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
/** By then everything is delivered or dead: the window, the late records in it, and the rejoins before it. */
const LONGEST_QUIET_MS = 900_000;
const LOOK_EVERY_MS = 500;

/** `without`: rules that are left out of account, by their names. */
export async function runScenario(scenario: Scenario, without: ReadonlySet<string> = new Set()): Promise<RunReport> {
  const run = new Run(scenario, without);
  return run.toEnd();
}

class Run {
  readonly #scenario: Scenario;
  readonly #without: ReadonlySet<string>;
  readonly #violations: string[] = [];
  readonly #world = new World((error) => this.#violated(`OC0 thrown: ${describeError(error)}`));
  readonly #random: Random;
  readonly #log: ModelLog;
  readonly #receivers = new Receivers();
  readonly #commits: CommitWitness;
  readonly #deliveries: DeliveryWitness;
  readonly #groups: ReadonlyMap<string, Group>;
  readonly #installation: Installation;
  readonly #processes: Processes;
  readonly #codecs = createCodecs();
  readonly #events: SentEvents;
  readonly #destinations: Destinations;
  readonly #written: { readonly id: string; readonly offset: number; readonly revision: number }[] = [];
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
      GROUP_TOPICS.map(([groupId, subscribed]) => [groupId, this.#createGroup(groupId, subscribed)]),
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
      onServiceFailed: (processId, reason) => this.#processes.failed(processId, reason),
    };
    this.#processes = new Processes({
      installation: this.#installation,
      groups: this.#groups,
      commits: this.#commits,
    });
    this.#events = new SentEvents({ world: this.#world, log: this.#log, partitions: scenario.partitions });
  }

  async toEnd(): Promise<RunReport> {
    const world = this.#world;
    const onUnhandled = (reason: unknown) => this.#violated(`OC0 unhandled: ${describeError(reason)}`);
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
      acknowledged: this.#events.acknowledged.length,
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
    for (let index = 0; index < routers; index += 1) this.#processes.start("router");
    for (let index = 0; index < deliverers; index += 1) this.#processes.start("delivery");
    for (const { atMs, action } of actions) this.#world.after(atMs, null, () => this.#act(action));
    const look = () => {
      this.#look();
      this.#world.after(LOOK_EVERY_MS, null, look);
    };
    this.#world.after(LOOK_EVERY_MS, null, look);
  }

  /** Faults stop; stopped parts come back by themselves. URLs stay as they are. */
  #calm(): void {
    this.#isQuiet = true;
    for (const { connection } of this.#processes.alive) connection.mend();
  }

  #judge(): void {
    if (this.#hasFailed) return;
    if (!this.#isAtEnd)
      this.#violated(`OC5 something waits for ever: ${waitingPartitions(this.#committing).join(", ")}`);
    checkOutcome({
      events: this.#events.acknowledged,
      destinations: this.#destinations.histories(),
      deliveries: this.#deliveries,
      dedupes: this.#scenario.dedupes,
      onViolation: (what) => this.#violated(what),
    });
  }

  /**
   * DW2 of delivery-witness.ts: a second copy; a call that its client repeated, where calls are told apart by their
   * message ids; or a delivery to a destination that comes or goes: of two routers whose tables differ the one that did
   * not know it wrote first, and the other's later writes below that are passed over.
   */
  #isDroppedRightly(record: LogRecord): boolean {
    if (this.#deliveries.isSecondCopy(record)) return true;
    if (!this.#deliveries.isPassedOver(record)) return false;
    if (this.#scenario.dedupes && this.#deliveries.isLaterCopyOfMessage(record)) return true;
    const { destinationId } = this.#codecs.delivery.decode(record.value ?? Buffer.alloc(0));
    return this.#destinations.histories().some(({ id, isSteady }) => id === destinationId && !isSteady);
  }

  get #committing(): Committing {
    return {
      ...{ world: this.#world, log: this.#log, groups: this.#groups },
      ...{ processes: this.#processes, commits: this.#commits },
    };
  }

  #look(): void {
    this.#isAtEnd = this.#isQuiet && waitingPartitions(this.#committing).length === 0;
    checkGains(this.#committing);
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

  #act(action: Action): void {
    const process = "process" in action ? this.#processes.at(action.process) : undefined;
    switch (action.kind) {
      case "events":
        for (let index = 0; index < action.count; index += 1) this.#events.send(action.user, action.isRepeated);
        return;
      case "kill":
        if (process !== undefined) this.#processes.end(process, action.forMs);
        return;
      case "stop":
        if (process !== undefined) this.#processes.stop(process, action.forMs);
        return;
      case "join":
        this.#processes.join(action.service);
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
        for (const each of this.#processes.alive) {
          if (each.kind === "delivery") each.connection.holdReaders(action.forMs);
        }
        this.#destinations.add();
        this.#world.after(NEW_UNSEEN_MS, null, () => this.#events.send(action.user, false));
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
