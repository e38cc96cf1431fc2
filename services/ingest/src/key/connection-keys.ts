/**
 * The source that a connection's header names, found again without reading and hashing its key anew: most connections
 * send the same header with each request.
 *
 * Owns, for each connection, the header that named a source last, and that source.
 * CK1  A header is compared with what its own connection sent before, and with nothing else: how long that takes says
 *      nothing about anybody's key (WK1 of write-keys.ts).
 * CK2  Whatever changes in the table of sources, and whenever a key of the source expires, it is looked for again.
 */
import type { Socket } from "node:net";
import type { Source } from "@posthaste/core/config/source";
import type { WriteKeys } from "./write-keys.ts";

/** A source that was found by a key outside of the body. */
export interface NamedSource {
  readonly source: Source;
}

interface Remembered {
  readonly authorization: string;
  readonly named: NamedSource;
  readonly tableVersion: number;
  /** Ms since the epoch. */
  readonly untilMs: number;
}

export class ConnectionKeys {
  readonly #table: Pick<WriteKeys, "version">;
  readonly #remembered = new WeakMap<Socket, Remembered>();

  constructor(table: Pick<WriteKeys, "version">) {
    this.#table = table;
  }

  /** What the header named when the connection sent it last; undefined where it has to be looked for. */
  find(connection: Socket, authorization: string, nowMs: number): NamedSource | undefined {
    const last = this.#remembered.get(connection);
    if (last === undefined || last.tableVersion !== this.#table.version || nowMs >= last.untilMs) return undefined;
    return last.authorization === authorization ? last.named : undefined;
  }

  remember(connection: Socket, authorization: string, named: NamedSource, nowMs: number): void {
    const expiring = named.source.writeKeys.map(({ expiresAtMs }) => expiresAtMs ?? Number.POSITIVE_INFINITY);
    const untilMs = Math.min(...expiring.filter((atMs) => atMs > nowMs));
    this.#remembered.set(connection, { authorization, named, tableVersion: this.#table.version, untilMs });
  }
}
