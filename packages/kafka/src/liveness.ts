/**
 * The liveness watch: makes a hung broker look like a dead one (rule L1).
 *
 * kafkajs takes a dead broker well and waits for a hung one (paused, out of disk bandwidth, half of a network) as long as
 * the hang lasts. So each broker is asked for its ApiVersions twice a second on a connection of its own, since a broker
 * answers the requests of one connection in order and a slow answer behind another request says nothing.
 *
 * Owns: one probe connection a broker, one timer, and the list of every open socket by broker.
 * States of a broker: unknown (no answer on this probe yet), answering, silent.
 * L1a  Silent means: `SILENT_TICKS` ticks without an answer while another broker answers. Ticks, not time: when our own
 *      event loop is blocked it misses ticks, and must not blame the brokers.
 * L1b  A silent broker's sockets are destroyed and connects to it refused, until it answers again.
 * L1c  The only broker, or the last that answers, is never silent: it is waited for (L2).
 * L1d  A dead broker (its probe does not connect) is none of the watch's business: kafkajs sees its own refused connects.
 */
import { Socket } from "node:net";

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/** Opens a connection; `onConnect` is called when it can be written to (after the handshake, with TLS). */
export type Dial = (broker: BrokerAddress, onConnect: () => void) => Socket;

export interface LivenessOptions {
  /** Brokers to watch from the start, so that one that hangs then is cut too. Others are watched from their first socket on. */
  readonly brokers: readonly BrokerAddress[];
  readonly dial: Dial;
  readonly onChange: (broker: string, silent: boolean) => void;
  /** Called after each tick. */
  readonly onTick?: () => void;
  /** Ms between two ticks; default `TICK_MS`. */
  readonly tickMs?: number;
}

const TICK_MS = 500;
const SILENT_TICKS = 4;
/** A broker counts as answering, as a witness against another, below so many unanswered ticks. */
const WITNESS_TICKS = 2;

interface WatchedBroker {
  readonly name: string;
  readonly address: BrokerAddress;
  readonly sockets: Set<Socket>;
  probe: Socket | null;
  /** The probe is connected, handshake included. */
  connected: boolean;
  /** A question is on its way. */
  asked: boolean;
  /** The present probe connection has had an answer. */
  answered: boolean;
  /** Ticks since the last answer during which one was owed. */
  unansweredTicks: number;
  silent: boolean;
}

export class LivenessWatch {
  readonly #brokers = new Map<string, WatchedBroker>();
  readonly #dial: Dial;
  readonly #onChange: (broker: string, silent: boolean) => void;
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor({ brokers, dial, onChange, onTick, tickMs = TICK_MS }: LivenessOptions) {
    this.#dial = dial;
    this.#onChange = onChange;
    for (const address of brokers) this.#watch(address);
    this.#timer = setInterval(() => {
      for (const broker of this.#brokers.values()) this.#tick(broker);
      onTick?.();
    }, tickMs);
    this.#timer.unref();
  }

  /** A socket to a broker, destroyed when the broker falls silent; one that fails at once when it is silent already. */
  open(address: BrokerAddress, onConnect: () => void): Socket {
    const broker = this.#watch(address);
    if (broker.silent) return refusedSocket(broker.name);
    const socket = allowListeners(this.#dial(address, onConnect));
    broker.sockets.add(socket);
    socket.once("close", () => broker.sockets.delete(socket));
    return socket;
  }

  /** Brokers that are silent now, as host:port. */
  silent(): readonly string[] {
    return [...this.#brokers.values()].filter((broker) => broker.silent).map((broker) => broker.name);
  }

  /** Brokers that answer now, as host:port; the others hang, are dead or were not heard of yet. */
  answering(): readonly string[] {
    return [...this.#brokers.values()].filter(answersNow).map((broker) => broker.name);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const broker of this.#brokers.values()) broker.probe?.destroy();
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
      connected: false,
      asked: false,
      answered: false,
      unansweredTicks: 0,
      silent: false,
    };
    this.#brokers.set(name, broker);
    this.#tick(broker);
    return broker;
  }

  #tick(broker: WatchedBroker): void {
    if (this.#closed) return;
    const { probe } = broker;
    if (probe === null || probe.destroyed) {
      this.#connectProbe(broker);
    } else if (broker.asked || !broker.connected) {
      broker.unansweredTicks += 1;
      const overdue = broker.unansweredTicks >= SILENT_TICKS;
      if (overdue && !broker.silent && this.#anotherAnswers(broker)) this.#fallSilent(broker);
    } else {
      ask(broker, probe);
    }
  }

  #connectProbe(broker: WatchedBroker): void {
    broker.connected = false;
    broker.asked = false;
    broker.answered = false;
    broker.unansweredTicks = 0;
    const probe = this.#dial(broker.address, () => {
      broker.connected = true;
      ask(broker, probe);
    });
    broker.probe = probe;
    probe.unref();
    probe.on("error", () => {});
    // A broker that closes its side would otherwise leave a half-open probe that is never asked again.
    probe.on("end", () => probe.destroy());
    probe.on("data", () => {
      broker.answered = true;
      broker.asked = false;
      broker.unansweredTicks = 0;
      if (!broker.silent) return;
      broker.silent = false;
      this.#onChange(broker.name, false);
    });
  }

  #fallSilent(broker: WatchedBroker): void {
    broker.silent = true;
    this.#onChange(broker.name, true);
    for (const socket of broker.sockets) socket.destroy(silentError(broker.name));
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
function answersNow({ probe, answered, silent, unansweredTicks }: WatchedBroker): boolean {
  return probe?.destroyed === false && answered && !silent && unansweredTicks < WITNESS_TICKS;
}

function ask(broker: WatchedBroker, probe: Socket): void {
  broker.asked = true;
  probe.write(API_VERSIONS_REQUEST);
}

/** kafkajs unrefs a dead socket at every try to connect again, which Node counts as a listener each. */
function allowListeners(socket: Socket): Socket {
  return socket.setMaxListeners(0);
}

/** A socket that fails on the next tick, when its user has had time to listen for that. */
export function refusedSocket(broker: string): Socket {
  const socket = allowListeners(new Socket());
  process.nextTick(() => socket.destroy(silentError(broker)));
  return socket;
}

/** `ECONNREFUSED`, so that kafkajs treats the broker as dead. */
function silentError(broker: string): Error {
  return Object.assign(new Error(`broker ${broker} does not answer`), { code: "ECONNREFUSED" });
}

/** ApiVersions, version 0, with its length in front; brokers answer it before authentication too. */
const API_VERSIONS_REQUEST = (() => {
  const clientId = "liveness";
  const request = Buffer.alloc(4 + 2 + 2 + 4 + 2 + clientId.length);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(18, 4);
  request.writeInt16BE(0, 6);
  request.writeInt32BE(0, 8);
  request.writeInt16BE(clientId.length, 12);
  request.write(clientId, 14);
  return request;
})();
