/**
 * The authors of resends by hand, according to the audit.
 *
 * Owns: the answers so far, the newest `KEPT` of them.
 * RA1  An author that the audit named once is not asked for again: an entry never changes.
 * RA2  An unknown author is asked for again only after `AGAIN_MS`: a list that is read every few seconds would have the
 *      audit searched as often.
 */
import type { AuditLog } from "@posthaste/configuration/audit-log";

/** How long, in ms, the audit may take to answer; after that the answer goes without it. */
const PATIENCE_MS = 1000;
const AGAIN_MS = 60_000;
/** About a megabyte. */
const KEPT = 10_000;

/** By the resend's id, the name of the token that asked for it. */
export type ResentBy = ReadonlyMap<string, string>;

interface Answered {
  /** Null where the audit did not know it. */
  readonly name: string | null;
  readonly atMs: number;
}

/** False for the id of a replay. */
export function isResend(replayId: string): boolean {
  return replayId.startsWith("rsd_");
}

export class ResendAuthors {
  readonly #audit: Pick<AuditLog, "page">;
  readonly #nowMs: () => number;
  readonly #answered = new Map<string, Answered>();

  constructor(audit: Pick<AuditLog, "page">, nowMs: () => number) {
    this.#audit = audit;
    this.#nowMs = nowMs;
  }

  /** Returns the authors of the resends among these ids; resends that the audit does not know are omitted. */
  async of(replayIds: Iterable<string | null>): Promise<ResentBy> {
    const ids = new Set([...replayIds].filter((id) => id !== null && isResend(id))) as ReadonlySet<string>;
    await this.#ask(new Set([...ids].filter((id) => this.#isToAsk(id))));
    return new Map(
      [...ids].flatMap((id) => {
        const name = this.#answered.get(id)?.name ?? null;
        return name === null ? [] : [[id, name] as const];
      }),
    );
  }

  /** RA1, RA2. */
  #isToAsk(id: string): boolean {
    const answered = this.#answered.get(id);
    return answered === undefined || (answered.name === null && this.#nowMs() - answered.atMs >= AGAIN_MS);
  }

  async #ask(ids: ReadonlySet<string>): Promise<void> {
    if (ids.size === 0) return;
    const query = { limit: ids.size, fits: ({ target }: { readonly target: string }) => ids.has(target) };
    const page = await this.#audit.page(query, PATIENCE_MS).catch(() => null);
    if (page === null) return;
    const atMs = this.#nowMs();
    const names = new Map(page.entries.map(({ target, actor }) => [target, actor]));
    for (const id of ids) this.#answered.set(id, { name: names.get(id) ?? null, atMs });
    for (const id of this.#answered.keys()) {
      if (this.#answered.size <= KEPT) return;
      this.#answered.delete(id);
    }
  }
}
