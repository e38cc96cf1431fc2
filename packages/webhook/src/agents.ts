/**
 * The connections of a sender: a pool for each origin, with a bound on all pools together.
 *
 * Owns every connection of a sender. A connection is an undici Client with one request at a time (HTTP/1.1, no
 * pipelining). A connection is busy (it has a request), idle (it is open and has none) or closed. Invariants:
 *  AP1  A pool has at most `connectionsPerOrigin` connections, and all pools together at most `connections`. A request
 *       beyond that waits for a connection, and its 5 seconds run meanwhile.
 *  AP2  A request gets the connection that was used last, so connections that nobody needs go idle and are closed.
 *  AP3  Where no more connections may be opened, the pools close the connection that has been idle longest, of whatever
 *       origin, and open a new one in its place.
 *  AP4  A pool closes a connection whose request failed or was cut short, and never uses it again.
 *  AP5  A pool without connections and without waiting requests is dropped, so that memory follows the pools in use.
 */
import { type buildConnector, Client, type Dispatcher } from "undici";
import type { AnswerBudget } from "./answer-budget.ts";

export interface AgentLimits {
  readonly connectionsPerOrigin: number;
  readonly connections: number;
  readonly idleTimeoutMs: number;
}

/** The parts of each connection. */
export interface ConnectionParts {
  readonly createBudget: () => AnswerBudget;
  /** Makes the connector of a connection whose answers this budget bounds. */
  readonly createConnector: (budget: AnswerBudget) => buildConnector.connector;
}

/** The part of a request that the pools see. */
export interface Sendable extends Dispatcher.DispatchHandler {
  readonly options: Dispatcher.DispatchOptions;
  /** The connection that has the request; the pool sets it before it dispatches the request. */
  connection: Connection | null;
  /** True once the request has ended, which may be while it waits for a connection. */
  readonly hasEnded: boolean;
}

/**
 * The last second of a receiver's `Keep-Alive: timeout=5`, in ms. A pool sends no request in it, since the receiver may
 * close the connection while the request is on its way.
 */
const KEEP_ALIVE_MARGIN_MS = 1_000;

export class Connection extends Client {
  readonly pool: OriginPool;
  /** The number of requests that were answered since the socket was opened; above 0, the socket has served before. */
  served = 0;
  isBusy = false;

  readonly budget: AnswerBudget;

  constructor(pool: OriginPool, { createBudget, createConnector }: ConnectionParts, idleTimeoutMs: number) {
    const budget = createBudget();
    super(pool.origin, {
      connect: createConnector(budget),
      pipelining: 1,
      allowH2: false,
      // The sender's timer wheel keeps all timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleTimeoutMs,
      keepAliveMaxTimeout: idleTimeoutMs,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      // The budget of the answer is used up first.
      maxHeaderSize: budget.limits.overheadBytes,
    });
    this.pool = pool;
    this.budget = budget;
  }
}

class OriginPool {
  readonly origin: string;
  readonly idle: Connection[] = [];
  readonly waiting: Sendable[] = [];
  open = 0;

  constructor(origin: string) {
    this.origin = origin;
  }

  /** Takes the next request that still waits for a connection. */
  nextWaiting(): Sendable | undefined {
    let next = this.waiting.shift();
    while (next?.hasEnded) next = this.waiting.shift();
    return next;
  }
}

export class Agents {
  readonly #parts: ConnectionParts;
  readonly #limits: AgentLimits;
  readonly #pools = new Map<string, OriginPool>();
  /** The idle connections of all pools; the first has been idle longest. */
  readonly #idle = new Set<Connection>();
  /**
   * Pools with waiting requests that may open no connection only because all pools together have as many as they may.
   */
  readonly #starved = new Set<OriginPool>();
  readonly #connections = new Set<Connection>();
  #opened = 0;

  constructor(parts: ConnectionParts, limits: AgentLimits) {
    this.#parts = parts;
    this.#limits = limits;
  }

  get openConnections(): number {
    return this.#connections.size;
  }

  /** How many connections were made so far. */
  get openedConnections(): number {
    return this.#opened;
  }

  get pools(): number {
    return this.#pools.size;
  }

  /** Gives the request to a connection, or lets the request wait for a connection. */
  send(origin: string, request: Sendable): void {
    const pool = this.#poolOf(origin);
    const connection = this.#takeIdle(pool) ?? this.#tryOpen(pool);
    if (connection === null) pool.waiting.push(request);
    else start(connection, request);
  }

  /** Sends a request again on a new connection, which takes the place of the connection that failed. */
  resend(failed: Connection, request: Sendable): void {
    this.#close(failed);
    start(this.#openIn(failed.pool), request);
  }

  /** Notes that the connection's request was answered in full. */
  release(connection: Connection): void {
    connection.served += 1;
    connection.isBusy = false;
    const next = connection.pool.nextWaiting();
    if (next !== undefined) {
      start(connection, next);
      return;
    }
    connection.pool.idle.push(connection);
    this.#idle.add(connection);
    if (this.#starved.size > 0) this.#feedStarved();
  }

  /** Notes that the connection's request failed or was cut short (AP4). */
  discard(connection: Connection): void {
    if (!this.#connections.has(connection)) return;
    this.#close(connection);
    this.#refill(connection.pool);
    this.#feedStarved();
  }

  /** Closes every connection at once. The caller has ended their requests before. */
  async close(): Promise<void> {
    for (const pool of this.#pools.values()) pool.waiting.length = 0;
    await Promise.all([...this.#connections].map((connection) => connection.destroy()));
  }

  #poolOf(origin: string): OriginPool {
    const known = this.#pools.get(origin);
    if (known !== undefined) return known;
    const pool = new OriginPool(origin);
    this.#pools.set(origin, pool);
    return pool;
  }

  #takeIdle(pool: OriginPool): Connection | null {
    const connection = pool.idle.pop();
    if (connection === undefined) return null;
    this.#idle.delete(connection);
    return connection;
  }

  #tryOpen(pool: OriginPool): Connection | null {
    if (pool.open >= this.#limits.connectionsPerOrigin) return null;
    if (this.#connections.size >= this.#limits.connections) {
      const [longestIdle] = this.#idle;
      if (longestIdle === undefined) {
        this.#starved.add(pool);
        return null;
      }
      this.#close(longestIdle);
    }
    return this.#openIn(pool);
  }

  #openIn(pool: OriginPool): Connection {
    const connection = new Connection(pool, this.#parts, this.#limits.idleTimeoutMs);
    this.#pools.set(pool.origin, pool);
    this.#connections.add(connection);
    pool.open += 1;
    connection.on("connect", () => {
      connection.served = 0;
      this.#opened += 1;
    });
    // The end of its socket ends an idle connection. For a busy connection, its request decides the next step.
    const onSocketEnd = () => {
      if (!connection.isBusy) this.discard(connection);
    };
    connection.on("disconnect", onSocketEnd);
    connection.on("connectionError", onSocketEnd);
    return connection;
  }

  #close(connection: Connection): void {
    if (!this.#connections.delete(connection)) return;
    const { pool } = connection;
    pool.open -= 1;
    if (this.#idle.delete(connection)) pool.idle.splice(pool.idle.indexOf(connection), 1);
    this.#forgetIfUnused(pool);
    connection.destroy(null, ignore);
  }

  #forgetIfUnused(pool: OriginPool): void {
    const isUnused = pool.open === 0 && pool.waiting.length === 0;
    if (isUnused && this.#pools.get(pool.origin) === pool) this.#pools.delete(pool.origin);
  }

  /** Opens a connection for the next request that waits in the pool, once the bounds allow another connection. */
  #refill(pool: OriginPool): void {
    const next = pool.nextWaiting();
    if (next === undefined) {
      this.#forgetIfUnused(pool);
      return;
    }
    const connection = this.#tryOpen(pool);
    if (connection === null) pool.waiting.unshift(next);
    else start(connection, next);
  }

  #feedStarved(): void {
    for (const pool of [...this.#starved]) {
      if (this.#connections.size >= this.#limits.connections && this.#idle.size === 0) return;
      this.#starved.delete(pool);
      this.#refill(pool);
    }
  }
}

function start(connection: Connection, request: Sendable): void {
  connection.isBusy = true;
  connection.budget.begin();
  request.connection = connection;
  connection.dispatch(request.options, request);
}

function ignore(): void {}
