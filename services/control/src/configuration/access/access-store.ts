/**
 * Tokens, sign-in links and sessions, in a config topic that every control process reads and writes (S1 to S5 of
 * `config-store.ts`).
 *
 * Owns: the store, and an index of its records by the hash that opens each.
 * TK1  A revocation holds in this process when it is answered, and in every other as soon as its table has read it.
 * TK2  A link is used once: its use is a change of its record, and when two processes use it at once the topic's order
 *      lets one (S4). The session is written before: a process that ends between the two has used up nothing.
 * TK3  A record that is over is removed by whichever process looks first; until then it opens nothing.
 * TK4  Of a token that is made with a link, the link is written first: a process that ends between the two leaves a
 *      link that opens nothing (TK3), and no token that nobody can use.
 */

import { type AuditedFields, Secret } from "@posthaste/configuration/audited-fields";
import { type ConfigStore, type ConfigStoreOptions, openConfigStore } from "@posthaste/configuration/config-store";
import { type AvroAccessRecord, createAccessCodec } from "@posthaste/contracts/access-codec";
import type { OpenCodec } from "@posthaste/contracts/codec";
import { type AccessRecord, ADMIN_TOKEN_ID, isExpired } from "@posthaste/core/access/access-record";
import type { Freshness } from "@posthaste/core/freshness";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";

/** TK4: the token of a link that is no older may still be written. */
const MAKING_MS = 60_000;

export type AccessStoreOptions = Omit<ConfigStoreOptions<AccessRecord>, "codec" | "onChange" | "auditedFields"> & {
  readonly openCodec: OpenCodec;
  /** See `adminMarkOf`. */
  readonly adminMark: string;
};

/** Resolves when the topic is being read. */
export async function openAccessStore(connection: KafkaConnection, options: AccessStoreOptions): Promise<AccessStore> {
  const codec = createAccessCodec(await options.openCodec<AvroAccessRecord>("token"));
  const byHash = new Map<string, AccessRecord>();
  /** The hash of each record, since a change may bring another. */
  const hashes = new Map<string, string>();
  const records = await openConfigStore<AccessRecord>(connection, {
    ...{ ...options, codec, auditedFields: accessAudit },
    onChange: (id, value) => {
      byHash.delete(hashes.get(id) ?? "");
      hashes.delete(id);
      if (value === undefined || value.hash === null) return;
      hashes.set(id, value.hash);
      byHash.set(value.hash, value);
    },
  });
  return new AccessStore(options, records, byHash);
}

function accessAudit({ kind, name, scopes, hash, tokenId, usedAtMs }: AccessRecord): AuditedFields {
  const usedAt = usedAtMs === null ? null : new Date(usedAtMs).toISOString();
  return { kind, name, scopes: scopes.length === 0 ? null : scopes, opens: new Secret(hash), tokenId, usedAt };
}

export class AccessStore {
  readonly #options: AccessStoreOptions;
  readonly #byHash: ReadonlyMap<string, AccessRecord>;
  readonly records: ConfigStore<AccessRecord>;
  #isCaughtUp = false;

  /** For `openAccessStore`. */
  constructor(
    options: AccessStoreOptions,
    records: ConfigStore<AccessRecord>,
    byHash: ReadonlyMap<string, AccessRecord>,
  ) {
    this.#options = options;
    this.records = records;
    this.#byHash = byHash;
  }

  get freshness(): Freshness {
    return this.records.freshness;
  }

  /** Whether the topic was read to its end. Before that, a token that is not known may exist. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp;
  }

  async caughtUp(): Promise<void> {
    await this.records.caughtUp();
    this.#isCaughtUp = true;
  }

  /** The record that a text of this hash opens; undefined when it opens nothing, or nothing any more. */
  find(hash: string): AccessRecord | undefined {
    const found = this.#byHash.get(hash);
    return found !== undefined && this.isLive(found) ? found : undefined;
  }

  /** Whether a text of this hash ever opened a record that is still in the topic. */
  knows(hash: string): boolean {
    return this.#byHash.has(hash);
  }

  /** The token of a link or a session; undefined for the token of the environment. */
  tokenOf({ tokenId }: AccessRecord): AccessRecord | undefined {
    return tokenId === null || tokenId === ADMIN_TOKEN_ID ? undefined : this.records.get(tokenId);
  }

  /** Whether the record opens anything: it is not over, and neither is its token. */
  isLive(record: AccessRecord): boolean {
    const { adminMark, clock } = this.#options;
    if (isExpired(record, clock.nowMs())) return false;
    if (record.tokenId === null) return true;
    if (record.tokenId === ADMIN_TOKEN_ID) return record.adminMark === adminMark;
    const token = this.records.get(record.tokenId);
    return token?.kind === "token" && this.isLive(token);
  }

  /** TK3. */
  async removeExpired(): Promise<void> {
    const madeBeforeMs = this.#options.clock.nowMs() - MAKING_MS;
    const over = [...this.records.values()].filter(
      (record) => !this.isLive(record) && (record.kind !== "link" || record.createdAtMs < madeBeforeMs),
    );
    for (const { id } of over) {
      await this.records.change(
        id,
        (current, revision) => (current !== undefined && this.isLive(current) ? { ...current, revision } : null),
        null,
      );
    }
  }
}
