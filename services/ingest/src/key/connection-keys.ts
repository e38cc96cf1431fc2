/**
 * The source that a connection's header names, found again without decoding and hashing the key: most connections send
 * the same header with each request.
 *
 * Owns: for each connection, the last header that named a source, and that source.
 * CK1  A header is compared only with headers of its own connection, so the time of the comparison says nothing of
 *      anybody's key (WK1 of write-keys.ts).
 * CK2  After any change in the table of sources, and when a key of the source expires, the source is looked up again.
 */
import type { Socket } from "node:net";
import type { Source } from "@posthaste/core/config/source";
import type { WriteKeys } from "./write-keys.ts";

/** A source that a key outside of the body named. */
export interface NamedSource {
  readonly source: Source;
}

interface Remembered {
  readonly authorization: string;
  readonly named: NamedSource;
  readonly tableVersion: number;
  /** When the next key of the source expires, in ms since the epoch. */
  readonly untilMs: number;
}

export class ConnectionKeys {
  readonly #table: Pick<WriteKeys, "version">;
  readonly #remembered = new WeakMap<Socket, Remembered>();

  constructor(table: Pick<WriteKeys, "version">) {
    this.#table = table;
  }

  /** The source that the header named when the connection last sent it; undefined where it must be looked up. */
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
