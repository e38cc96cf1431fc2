/**
 * The handlers of the operations on audiences and computed traits. Their input was checked; a refusal is thrown as a
 * Problem.
 */

import type { AudienceSyncs, Said } from "@posthaste/audiences/audience-sync";
import type { Membership } from "@posthaste/audiences/membership";
import type { MembershipClient } from "@posthaste/audiences/membership-client";
import { inBatches } from "@posthaste/audiences/uploaded-lines";
import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Author } from "@posthaste/core/access/author";
import type { Audience, AudienceKind, SyncSummary } from "@posthaste/core/audience/audience";
import { type audienceInput, traitValueInput } from "@posthaste/core/audience/audience-settings";
import { traitNameOf } from "@posthaste/core/audience/trait-name";
import type { Source } from "@posthaste/core/config/source";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import { type FreshAnswer, freshAnswer } from "@posthaste/http-kit/freshness";
import { derivedId } from "@posthaste/http-kit/identifiers";
import { type Page, type PageQuery, pageFrom } from "@posthaste/http-kit/page";
import { checkInput, invalidInput, Problem } from "@posthaste/http-kit/problem";
import type { z } from "zod";
import { iso, viewAudience } from "./audience-view.ts";

/**
 * The time, in ms, for which a query waits for records that another process wrote a moment ago. While a sync writes
 * more than can be read in that time, the answer has the records read so far.
 */
const REFRESH_MS = 1000;
const NOBODY = { users: 0, falses: 0 };

export interface AudienceHandlersOptions {
  readonly audiences: ConfigStore<Audience>;
  readonly sources: ConfigStore<Source>;
  readonly syncs: AudienceSyncs;
  readonly membership: Membership;
  /** Returns how many records are still to become identifies. */
  readonly waiting: () => Promise<number>;
  readonly clock: Clock;
}

/** A caller's upload of the users of an audience. */
export interface SaidMembers {
  readonly said: SaidInBatches;
  /** Whether users that are not named become absent. */
  readonly isWhole: boolean;
  readonly by: Author;
}

export interface NamedTrait {
  readonly name: string;
  readonly sourceId: string;
}

type SaidInBatches = AsyncIterable<readonly Said[]> | Iterable<readonly Said[]>;
type View = ReturnType<typeof viewAudience>;

export class AudienceHandlers {
  readonly #options: AudienceHandlersOptions;

  constructor(options: AudienceHandlersOptions) {
    this.#options = options;
  }

  async list(kind: AudienceKind, query: PageQuery): Promise<Page<View> & FreshAnswer> {
    const { audiences } = this.#options;
    const { data, nextCursor } = pageFrom(
      [...audiences.values()].filter((audience) => audience.kind === kind && !audience.isRemoved),
      query,
    );
    const shown = await Promise.all(data.map((audience) => this.#view(audience)));
    return { data: shown, nextCursor, ...freshAnswer(audiences.freshness) };
  }

  async create({ name, sourceId }: z.output<typeof audienceInput>, by: Author): Promise<View> {
    const audience = await this.#create("audience", { name, sourceId }, by);
    // Nobody is in it, so the table, which may still be opening, need not be asked.
    const { clock } = this.#options;
    return viewAudience(audience, { held: NOBODY, progress: undefined, nowMs: clock.nowMs() });
  }

  async get(id: string): Promise<View & { readonly identifiesWaiting: number }> {
    const audience = await this.#find(id);
    return { ...(await this.#view(audience)), identifiesWaiting: await this.#options.waiting() };
  }

  async member(id: string, userId: string) {
    await this.#find(id);
    const table = await this.#table();
    const held = await table.member(id, userId);
    const since = held === null || held.changedAtMs === 0 ? null : iso(held.changedAtMs);
    return { userId, member: held?.valueJson === "true", since };
  }

  /** Syncs the whole membership, or changes of it. */
  async setMembers(id: string, { said, isWhole, by }: SaidMembers): Promise<SyncSummary> {
    const { sources, syncs } = this.#options;
    const audience = await this.#find(id);
    assertSourceTakes(await sources.find(audience.sourceId), audience.sourceId);
    return await syncs.sync({ audience, said, isWhole, by });
  }

  async remove(id: string, by: Author): Promise<void> {
    const audience = await this.#options.audiences.find(id);
    // An audience whose removal is under way is found too: a second request is answered at the removal's end.
    if (audience?.kind !== "audience") throw noAudience(id);
    await this.#options.syncs.remove(audience, by);
  }

  async setValues(named: NamedTrait, said: SaidInBatches, by: Author) {
    const { sources, syncs } = this.#options;
    const source = await sources.find(named.sourceId);
    // This comes before the trait is made, so that a refusal leaves none.
    if (source !== undefined) assertSourceTakes(source, named.sourceId);
    const audience = await this.#create("computed_trait", named, by);
    const { added, unchanged } = await syncs.sync({ audience, said, isWhole: false, by });
    return { changed: added, unchanged };
  }

  async removeTrait({ name, sourceId }: NamedTrait, by: Author): Promise<void> {
    const found = await this.#options.audiences.find(derivedId("aud", sourceId, traitOf(name)));
    if (found?.kind !== "computed_trait") throw new Problem("not_found", `${sourceId} has no computed trait ${name}`);
    await this.#options.syncs.remove(found, by);
  }

  /**
   * Creates an audience or a computed trait. Its id is made of the source and the trait, so that when two callers make
   * one trait at once, under whatever names, one is refused. A computed trait of the same name may be made as often as
   * callers like.
   */
  async #create(kind: AudienceKind, { name, sourceId }: NamedTrait, by: Author): Promise<Audience> {
    const { audiences, sources, clock } = this.#options;
    if ((await sources.find(sourceId)) === undefined) {
      throw invalidInput([{ path: "sourceId", message: `there is no source ${sourceId}` }]);
    }
    const trait = traitOf(name);
    const id = derivedId("aud", sourceId, trait);
    const known = audiences.get(id);
    if (kind === "computed_trait" && known?.kind === kind && known.name === name && !known.isRemoved) return known;
    const created = await audiences.change(
      id,
      (current, revision) => {
        if (current?.isRemoved) {
          throw new Problem("conflict", `${id}, which was removed, is being emptied still: try again soon`);
        }
        if (current?.kind === "computed_trait" && kind === current.kind && current.name === name)
          return { ...current, revision };
        if (current !== undefined) throw taken(current, name);
        const nowMs = clock.nowMs();
        return {
          ...{ id, revision, kind, name, trait, sourceId, bornRevision: revision, lease: null, lastSync: null },
          ...{ isRemoved: false, createdAtMs: nowMs, updatedAtMs: nowMs },
        };
      },
      by,
    );
    if (created === undefined) throw noAudience(id);
    return created;
  }

  async #find(id: string): Promise<Audience> {
    const audience = await this.#options.audiences.find(id);
    if (audience?.kind !== "audience" || audience.isRemoved) throw noAudience(id);
    return audience;
  }

  /** Returns the table of the membership, which has all that a sync of this process wrote (AS4 of audience-sync.ts). */
  async #table(): Promise<MembershipClient> {
    const { membership } = this.#options;
    return await membership.refresh(REFRESH_MS).catch((error: unknown) => {
      if (!isPosthasteError(error, "deadline_exceeded")) throw error;
      return membership.table;
    });
  }

  async #view(audience: Audience): Promise<View> {
    const { syncs, clock } = this.#options;
    const table = await this.#table();
    const held = await table.held(audience.id);
    return viewAudience(audience, { held, progress: syncs.progressOf(audience.id), nowMs: clock.nowMs() });
  }
}

/** Users in batches, all with this value. */
export function saidOf(userIds: readonly string[], valueJson: string): Iterable<readonly Said[]> {
  return inBatches(pairs(userIds, valueJson));
}

/** The pairs are made as they are asked for, since there may be half a million. */
function* pairs(userIds: readonly string[], valueJson: string): Generator<Said> {
  for (const userId of userIds) yield [userId, valueJson];
}

/** Values by user id, in batches. */
export function saidOfValues(values: Readonly<Record<string, unknown>>): Iterable<readonly Said[]> {
  const said = Object.entries(values).map(([userId, value]): Said => [userId, checkInput(traitValueInput, value)]);
  return inBatches(said);
}

function noAudience(id: string): Problem {
  return new Problem("not_found", `there is no audience ${id}`);
}

function traitOf(name: string): string {
  const trait = traitNameOf(name);
  if (trait !== null) return trait;
  throw invalidInput([{ path: "name", message: "a name needs a letter or a digit: the trait's name is made of them" }]);
}

function taken({ id, kind, name: other, trait }: Audience, name: string): Problem {
  const what =
    kind === "audience"
      ? `the audience ${JSON.stringify(other)} (${id})`
      : `the computed trait ${JSON.stringify(other)}`;
  return new Problem(
    "conflict",
    `${JSON.stringify(name)} would be the trait ${trait}, which ${what} of this source has`,
  );
}

/** Throws the Problem `conflict` for a source that takes no events. */
function assertSourceTakes(source: { readonly enabled: boolean } | undefined, sourceId: string): void {
  if (source?.enabled === true) return;
  const why = source === undefined ? "was removed" : "is switched off";
  throw new Problem("conflict", `the source ${sourceId} ${why}: its audiences can be synced when it is back`);
}
