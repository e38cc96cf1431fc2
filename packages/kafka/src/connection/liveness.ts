/**
 * The liveness watch: it makes a hung broker look like a dead one to kafkajs (rule L1).
 *
 * kafkajs soon notices that a broker is dead, and waits for a hung one (paused, out of disk bandwidth, cut off by half
 * a network) as long as the hang lasts. So the watch asks each broker for its API versions twice a second, on a
 * connection of its own: on a shared connection a broker answers requests in order, and a slow answer would only show
 * that another request is slow.
 *
 * Owns: one probe connection a broker, one timer, and every open socket by broker. A broker is
 * - *unknown* until its present probe has an answer;
 * - *answering* from that answer on;
 * - *unresponsive* from the tick at which L1a holds until the broker's next answer.
 * L1a  A broker is unresponsive after `UNRESPONSIVE_TICKS` ticks without an answer while another broker answers. The
 *      watch counts ticks and not time: while this process's own event loop is blocked it misses ticks, and must not
 *      blame the brokers.
 * L1b  The watch destroys the sockets of an unresponsive broker and refuses connects to it, until the broker answers.
 * L1c  The only broker, or the last that answers, is never called unresponsive: clients wait for it (L2). While the
 *      watch knows only one broker, it asks at every fourth tick: nothing depends on noticing a missed answer soon.
 * L1d  The watch does not look for dead brokers, to which a probe cannot connect: kafkajs notices those itself.
 * L1e  A broker that refuses this process (by its certificate or the login) does not count as answering. Its probe
 *      pauses for five seconds, so that the broker need not refuse twice a second. `onRefused` is called with advice at
 *      each refusal, and `refusals` names it until the broker answers.
 */
import { Socket } from "node:net";
import type { KafkaLogin } from "../login/login.ts";
import { BrokerProbe } from "./broker-probe.ts";
import type { BrokerAddress, Dial } from "./dial.ts";

export interface LivenessOptions {
  /**
   * The watch asks these brokers from the start, so that it can cut off one that hangs at the start. It asks any other
   * broker from the first socket to it on.
   */
  readonly brokers: readonly BrokerAddress[];
  readonly dial: Dial;
  /** How each probe logs in; undefined where the listeners want no login. */
  readonly login?: KafkaLogin | undefined;
  readonly onChange: (broker: string, isUnresponsive: boolean) => void;
  /** Called at each refusal (L1e). `advice` is a sentence for the operator. */
  readonly onRefused?: (broker: string, advice: string) => void;
  /** Called after each tick. */
  readonly onTick?: () => void;
  /** Ms between two ticks; default `TICK_MS`. */
  readonly tickMs?: number;
}

const TICK_MS = 500;
const UNRESPONSIVE_TICKS = 4;
/** A broker with fewer unanswered ticks than this counts as answering when the watch judges another broker. */
const WITNESS_TICKS = 2;
/** Two seconds (L1c). */
const ONLY_BROKER_TICKS = 4;
/** Five seconds (L1e). */
const REFUSED_PAUSE_TICKS = 10;
/**
 * So many probes in a row must be cut off like a client that speaks to the wrong kind of listener. A single cut may
 * come from a broker that is stopping.
 */
const CUT_IN_A_ROW = 2;

interface WatchedBroker {
  readonly name: string;
  readonly address: BrokerAddress;
  readonly sockets: Set<Socket>;
  probe: BrokerProbe | null;
  /** Ticks at which the probe was waiting for the broker, since it last received a frame. */
  unansweredTicks: number;
  isUnresponsive: boolean;
  /** Advice for the operator; null unless the broker refuses this process. */
  advice: string | null;
  /** Ticks until the watch connects a probe again, after a refusal. */
  pausedTicks: number;
  /** Probes in a row that were cut off like a client that speaks to the wrong kind of listener. */
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
   * Opens a socket to a broker. The watch destroys it when the broker becomes unresponsive; while the broker is
   * unresponsive, the socket fails at once.
   */
  open(address: BrokerAddress, onConnect: () => void): Socket {
    const broker = this.#watch(address);
    if (broker.isUnresponsive) return refusedSocket(broker.name);
    const socket = allowListeners(this.#dial(address, onConnect));
    broker.sockets.add(socket);
    socket.once("close", () => broker.sockets.delete(socket));
    return socket;
  }

  /** Unresponsive brokers, as host:port. */
  unresponsive(): readonly string[] {
    return [...this.#brokers.values()].filter((broker) => broker.isUnresponsive).map((broker) => broker.name);
  }

  /** Brokers that answer now, as host:port. The others hang, are dead, or have not answered yet. */
  answering(): readonly string[] {
    return [...this.#brokers.values()].filter(answersNow).map((broker) => broker.name);
  }

  /** Brokers that refuse this process, by host:port, each with advice (L1e). */
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
    } else if (probe.awaitsAnswer) {
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
      onSeen: () => {
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

  /** Counts how a probe was closed, once a probe. */
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

  /** Whether another broker answers (L1a, L1c). */
  #anotherAnswers(broker: WatchedBroker): boolean {
    for (const other of this.#brokers.values()) {
      if (other !== broker && answersNow(other)) return true;
    }
    return false;
  }
}

/** A broker whose probe was closed does not answer until a new probe has an answer. */
function answersNow({ probe, isUnresponsive, unansweredTicks }: WatchedBroker): boolean {
  return probe !== null && !probe.isClosed && probe.answers > 0 && !isUnresponsive && unansweredTicks < WITNESS_TICKS;
}

/**
 * kafkajs calls `unref` on a dead socket at each try to connect again. Node adds a listener at each such call, and
 * would warn of more than ten.
 */
function allowListeners(socket: Socket): Socket {
  return socket.setMaxListeners(0);
}

/** A socket that fails on the next tick, so that its user has time to listen for the error. */
export function refusedSocket(broker: string): Socket {
  const socket = allowListeners(new Socket());
  process.nextTick(() => socket.destroy(unresponsiveError(broker)));
  return socket;
}

/** Has the code `ECONNREFUSED`, so that kafkajs treats the broker as dead. */
function unresponsiveError(broker: string): Error {
  return Object.assign(new Error(`broker ${broker} does not answer`), { code: "ECONNREFUSED" });
}
