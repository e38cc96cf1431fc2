/**
 * The liveness watch: makes a hung broker look like a dead one (rule L1).
 *
 * kafkajs takes a dead broker well and waits for a hung one (paused, out of disk bandwidth, half of a network) as long
 * as the hang lasts. So each broker is asked for its ApiVersions twice a second on a connection of its own, since a
 * broker answers the requests of one connection in order and a slow answer behind another request says nothing.
 *
 * Owns: one probe connection a broker, one timer, and the list of every open socket by broker. A broker is
 * - *unknown* until its present probe has an answer;
 * - *answering* from then on;
 * - *unresponsive* from `UNRESPONSIVE_TICKS` ticks without an answer to its next answer.
 * L1a  A broker is unresponsive after `UNRESPONSIVE_TICKS` ticks without an answer while another broker answers. The
 *      watch counts ticks and not time: when this process's own event loop is blocked it misses ticks, and must not
 *      blame the brokers.
 * L1b  The sockets of an unresponsive broker are destroyed and connects to it are refused, until it answers again.
 * L1c  The only broker, or the last that answers, is never called unresponsive: clients wait for it (L2). While it is
 *      the only one that is known, nothing hangs on how soon its answers fail, and it is asked at every fourth tick.
 * L1d  A dead broker, to which the probe cannot connect, is not the watch's to notice: kafkajs sees its own refused
 *      connects.
 * L1e  A broker that refuses this process (by its certificate or the login) answers nobody. Its probe pauses for five
 *      seconds, so that the broker is not made to refuse twice a second; `onRefused` tells what to change at each
 *      refusal, and `refusals` until the broker answers.
 */
import { Socket } from "node:net";
import type { KafkaLogin } from "../login/login.ts";
import { BrokerProbe } from "./broker-probe.ts";
import type { BrokerAddress, Dial } from "./dial.ts";

export interface LivenessOptions {
  /**
   * Brokers to watch from the start, so that one that hangs then is cut too. Others are watched from their first socket
   * on.
   */
  readonly brokers: readonly BrokerAddress[];
  readonly dial: Dial;
  /** How each probe logs in; not at all when absent. */
  readonly login?: KafkaLogin | undefined;
  readonly onChange: (broker: string, isUnresponsive: boolean) => void;
  /** L1e; `advice` is a sentence that says what to change. */
  readonly onRefused?: (broker: string, advice: string) => void;
  /** Called after each tick. */
  readonly onTick?: () => void;
  /** Ms between two ticks; default `TICK_MS`. */
  readonly tickMs?: number;
}

const TICK_MS = 500;
const UNRESPONSIVE_TICKS = 4;
/** A broker counts as answering, as a witness against another, below so many unanswered ticks. */
const WITNESS_TICKS = 2;
/** L1c: two seconds. */
const ONLY_BROKER_TICKS = 4;
/** L1e: five seconds. */
const REFUSED_PAUSE_TICKS = 10;
/** One connection that is cut where a listener of another kind would cut it may be a broker's stop. */
const CUT_IN_A_ROW = 2;

interface WatchedBroker {
  readonly name: string;
  readonly address: BrokerAddress;
  readonly sockets: Set<Socket>;
  probe: BrokerProbe | null;
  /** Ticks since the probe last heard something during which it was owed something. */
  unansweredTicks: number;
  isUnresponsive: boolean;
  /** What to change; null unless the broker refuses this process. */
  advice: string | null;
  /** Ticks until the broker is asked again, after a refusal. */
  pausedTicks: number;
  /** Probes in a row that were cut where a listener of another kind would cut them. */
  cutProbes: number;
}

export class LivenessWatch {
  readonly #brokers = new Map<string, WatchedBroker>();
  readonly #dial: Dial;
  readonly #login: KafkaLogin | undefined;
  readonly #onChange: (broker: string, isUnresponsive: boolean) => void;
  readonly #onRefused: (broker: string, advice: string) => void;
  readonly #timer: NodeJS.Timeout;
  #ticks = 0;
  #closed = false;

  constructor({ brokers, dial, login, onChange, onRefused, onTick, tickMs = TICK_MS }: LivenessOptions) {
    this.#dial = dial;
    this.#login = login;
    this.#onChange = onChange;
    this.#onRefused = onRefused ?? (() => {});
    for (const address of brokers) this.#watch(address);
    this.#timer = setInterval(() => {
      this.#ticks += 1;
      for (const broker of this.#brokers.values()) this.#tick(broker);
      onTick?.();
    }, tickMs);
    this.#timer.unref();
  }

  /**
   * A socket to a broker, destroyed when the broker stops responding; it fails at once while the broker does not
   * respond.
   */
  open(address: BrokerAddress, onConnect: () => void): Socket {
    const broker = this.#watch(address);
    if (broker.isUnresponsive) return refusedSocket(broker.name);
    const socket = allowListeners(this.#dial(address, onConnect));
    broker.sockets.add(socket);
    socket.once("close", () => broker.sockets.delete(socket));
    return socket;
  }

  /** Brokers that do not respond now, as host:port. */
  unresponsive(): readonly string[] {
    return [...this.#brokers.values()].filter((broker) => broker.isUnresponsive).map((broker) => broker.name);
  }

  /** Brokers that answer now, as host:port; the others hang, are dead or were not heard of yet. */
  answering(): readonly string[] {
    return [...this.#brokers.values()].filter(answersNow).map((broker) => broker.name);
  }

  /** Brokers that refuse this process, each with what to change (L1e). */
  refusals(): ReadonlyMap<string, string> {
    return new Map(
      [...this.#brokers.values()].flatMap(({ name, advice }) => (advice === null ? [] : [[name, advice]])),
    );
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const broker of this.#brokers.values()) broker.probe?.close();
  }

  #watch(address: BrokerAddress): WatchedBroker {
    const name = `${address.host}:${address.port}`;
    const known = this.#brokers.get(name);
    if (known) return known;
    const broker: WatchedBroker = {
      name,
      address,
      sockets: new Set(),
      probe: null,
      unansweredTicks: 0,
      isUnresponsive: false,
      advice: null,
      pausedTicks: 0,
      cutProbes: 0,
    };
    this.#brokers.set(name, broker);
    this.#tick(broker);
    return broker;
  }

  #tick(broker: WatchedBroker): void {
    if (this.#closed) return;
    const { probe } = broker;
    if (probe === null || probe.isClosed) {
      if (probe !== null) this.#countCut(broker, probe);
      if (broker.pausedTicks > 0) broker.pausedTicks -= 1;
      else this.#connectProbe(broker);
    } else if (probe.isOwed) {
      broker.unansweredTicks += 1;
      const overdue = broker.unansweredTicks >= UNRESPONSIVE_TICKS;
      if (overdue && !broker.isUnresponsive && this.#anotherAnswers(broker)) this.#cutOff(broker);
    } else if (this.#brokers.size > 1 || this.#ticks % ONLY_BROKER_TICKS === 0) {
      probe.ask();
    }
  }

  #connectProbe(broker: WatchedBroker): void {
    broker.unansweredTicks = 0;
    broker.probe = new BrokerProbe({
      address: broker.address,
      dial: this.#dial,
      login: this.#login,
      onHeard: () => {
        broker.unansweredTicks = 0;
      },
      onAnswer: () => this.#onAnswer(broker),
      onRefused: (advice) => this.#refused(broker, advice),
    });
  }

  #onAnswer(broker: WatchedBroker): void {
    if (broker.cutProbes < CUT_IN_A_ROW || (broker.probe?.answers ?? 0) > 1) broker.advice = null;
    if (!broker.isUnresponsive) return;
    broker.isUnresponsive = false;
    this.#onChange(broker.name, false);
  }

  /** Called once a probe that was closed. */
  #countCut(broker: WatchedBroker, probe: BrokerProbe): void {
    broker.probe = null;
    const { suspicion } = probe;
    broker.cutProbes = suspicion === null ? 0 : broker.cutProbes + 1;
    if (suspicion !== null && broker.cutProbes >= CUT_IN_A_ROW) this.#refused(broker, suspicion);
  }

  #refused(broker: WatchedBroker, advice: string): void {
    broker.advice = advice;
    broker.pausedTicks = REFUSED_PAUSE_TICKS;
    this.#onRefused(broker.name, advice);
  }

  #cutOff(broker: WatchedBroker): void {
    broker.isUnresponsive = true;
    this.#onChange(broker.name, true);
    for (const socket of broker.sockets) socket.destroy(unresponsiveError(broker.name));
  }

  /** L1c. */
  #anotherAnswers(broker: WatchedBroker): boolean {
    for (const other of this.#brokers.values()) {
      if (other !== broker && answersNow(other)) return true;
    }
    return false;
  }
}

/** A broker whose probe was closed is dead until it takes another. */
function answersNow({ probe, isUnresponsive, unansweredTicks }: WatchedBroker): boolean {
  return probe !== null && !probe.isClosed && probe.answers > 0 && !isUnresponsive && unansweredTicks < WITNESS_TICKS;
}

/** kafkajs unrefs a dead socket at every try to connect again, which Node counts as a listener each. */
function allowListeners(socket: Socket): Socket {
  return socket.setMaxListeners(0);
}

/** A socket that fails on the next tick, when its user has had time to listen for that. */
export function refusedSocket(broker: string): Socket {
  const socket = allowListeners(new Socket());
  process.nextTick(() => socket.destroy(unresponsiveError(broker)));
  return socket;
}

/** `ECONNREFUSED`, so that kafkajs treats the broker as dead. */
function unresponsiveError(broker: string): Error {
  return Object.assign(new Error(`broker ${broker} does not answer`), { code: "ECONNREFUSED" });
}
