/**
 * A consumer group as its coordinator keeps it: members, generations, assignments and committed offsets.
 *
 * Owns: the group. Its states: *empty*, *preparing* (waits for its members to join again), *completing* (waits for the
 * leader's sync), *stable*.
 * - A commit counts only from a member of this generation, and never while the group is completing.
 * MG2  A member that was not heard for its session is dropped, unless it waits for the answer to a join or a sync.
 * MG3  A rebalance waits for its members at most for a session.
 */
import { protocolError } from "./broker-errors.ts";
import type { Answer } from "./network.ts";
import type { World } from "./world.ts";

export interface Place {
  readonly topic: string;
  readonly partition: number;
}

export interface Committed extends Place {
  readonly offset: number;
  readonly metadata: string;
}

export interface JoinAnswer {
  readonly memberId: string;
  readonly generationId: number;
  readonly leaderId: string;
}

export type Assignment = Readonly<Record<string, readonly number[]>>;

interface Member {
  readonly id: string;
  lastSeenMs: number;
  joining: Answer<JoinAnswer> | null;
  syncing: Answer<Assignment> | null;
}

export interface GroupOptions {
  readonly world: World;
  readonly topics: () => readonly Place[];
  readonly sessionMs: number;
  readonly onCommitted: (committed: Committed, generationId: number) => void;
}

export class Group {
  readonly #options: GroupOptions;
  readonly #members = new Map<string, Member>();
  readonly #committed = new Map<string, Committed>();
  #state: "empty" | "preparing" | "completing" | "stable" = "empty";
  #generation = 0;
  #made = 0;
  #leaderId = "";
  #awayUntilMs = 0;
  #stableSinceMs = 0;

  constructor(options: GroupOptions) {
    this.#options = options;
  }

  /** The coordinator moves: it answers nothing but that it is loading for so long. */
  move(forMs: number): void {
    this.#awayUntilMs = this.#options.world.nowMs + forMs;
  }

  get quietForMs(): number {
    return this.#options.world.nowMs - this.#awayUntilMs;
  }

  /** Ms since the last rebalance was over; 0 during one. */
  get stableForMs(): number {
    return this.#state === "stable" ? this.#nowMs - this.#stableSinceMs : 0;
  }

  committedAt({ topic, partition }: Place): Committed | undefined {
    return this.#committed.get(keyOf({ topic, partition }));
  }

  join(memberId: string, answer: Answer<JoinAnswer>): void {
    if (this.#isAway(answer)) return;
    let member = this.#members.get(memberId);
    if (member === undefined && memberId !== "") {
      answer.reject(protocolError("UNKNOWN_MEMBER_ID"));
      return;
    }
    if (member === undefined) {
      member = { id: `m${this.#made++}`, lastSeenMs: this.#nowMs, joining: null, syncing: null };
      this.#members.set(member.id, member);
      this.#watch(member);
    }
    member.lastSeenMs = this.#nowMs;
    member.joining = answer;
    this.#prepare();
    this.#completeIfJoined();
  }

  sync(memberId: string, generationId: number, answer: Answer<Assignment>): void {
    if (this.#isAway(answer)) return;
    const member = this.#memberOf(memberId, generationId, answer);
    if (member === null) return;
    if (this.#state === "preparing") {
      answer.reject(protocolError("REBALANCE_IN_PROGRESS"));
      return;
    }
    member.syncing = answer;
    if (memberId === this.#leaderId && this.#state !== "stable") {
      this.#state = "stable";
      this.#stableSinceMs = this.#nowMs;
    }
    if (this.#state !== "stable") return;
    for (const each of this.#members.values()) {
      each.syncing?.resolve(this.#assignmentOf(each.id));
      each.syncing = null;
    }
  }

  heartbeat(memberId: string, generationId: number, answer: Answer<object>): void {
    if (this.#isAway(answer)) return;
    const member = this.#memberOf(memberId, generationId, answer);
    if (member === null) return;
    member.lastSeenMs = this.#nowMs;
    if (this.#state === "preparing") answer.reject(protocolError("REBALANCE_IN_PROGRESS"));
    else answer.resolve({});
  }

  commit(memberId: string, generationId: number, points: readonly Committed[], answer: Answer<object>): void {
    if (this.#isAway(answer)) return;
    const member = this.#memberOf(memberId, generationId, answer);
    if (member === null) return;
    if (this.#state === "completing") {
      answer.reject(protocolError("REBALANCE_IN_PROGRESS"));
      return;
    }
    member.lastSeenMs = this.#nowMs;
    for (const point of points) {
      this.#committed.set(keyOf(point), point);
      this.#options.onCommitted(point, generationId);
    }
    answer.resolve({});
  }

  leave(memberId: string): void {
    this.#drop(memberId);
  }

  #memberOf(memberId: string, generationId: number, answer: Pick<Answer<never>, "reject">): Member | null {
    const member = this.#members.get(memberId);
    if (member === undefined) answer.reject(protocolError("UNKNOWN_MEMBER_ID"));
    else if (generationId !== this.#generation) answer.reject(protocolError("ILLEGAL_GENERATION"));
    else return member;
    return null;
  }

  #isAway(answer: Pick<Answer<never>, "reject">): boolean {
    if (this.quietForMs >= 0) return false;
    answer.reject(protocolError("GROUP_LOAD_IN_PROGRESS"));
    return true;
  }

  /** MG3. */
  #prepare(): void {
    if (this.#state === "preparing") return;
    this.#state = "preparing";
    for (const member of this.#members.values()) {
      member.syncing?.reject(protocolError("REBALANCE_IN_PROGRESS"));
      member.syncing = null;
    }
    const generation = this.#generation;
    this.#options.world.after(this.#options.sessionMs, null, () => {
      if (this.#state !== "preparing" || generation !== this.#generation) return;
      for (const { id, joining } of [...this.#members.values()]) if (joining === null) this.#members.delete(id);
      this.#completeIfJoined();
    });
  }

  #completeIfJoined(): void {
    if (this.#state !== "preparing") return;
    const members = [...this.#members.values()];
    if (members.some(({ joining }) => joining === null)) return;
    const [leader] = members;
    if (leader === undefined) {
      this.#state = "empty";
      return;
    }
    this.#generation += 1;
    this.#state = "completing";
    this.#leaderId = leader.id;
    for (const member of members) {
      member.lastSeenMs = this.#nowMs;
      member.joining?.resolve({ memberId: member.id, generationId: this.#generation, leaderId: leader.id });
      member.joining = null;
    }
  }

  /**
   * Round robin, which every other generation begins with another member: some partitions are kept, and many change
   * hands.
   */
  #assignmentOf(memberId: string): Assignment {
    const ids = [...this.#members.keys()];
    const own = (ids.indexOf(memberId) + (this.#generation >> 1)) % ids.length;
    const assignment: Record<string, number[]> = {};
    this.#options.topics().forEach(({ topic, partition }, index) => {
      if (index % ids.length !== own) return;
      assignment[topic] ??= [];
      assignment[topic].push(partition);
    });
    return assignment;
  }

  /** MG2. */
  #watch(member: Member): void {
    const { world, sessionMs } = this.#options;
    world.after(member.lastSeenMs + sessionMs - world.nowMs, null, () => {
      if (this.#members.get(member.id) !== member) return;
      if (member.joining !== null || member.syncing !== null) member.lastSeenMs = this.#nowMs;
      if (member.lastSeenMs + sessionMs > this.#nowMs) this.#watch(member);
      else this.#drop(member.id);
    });
  }

  #drop(memberId: string): void {
    if (!this.#members.delete(memberId)) return;
    if (this.#members.size === 0) this.#state = "empty";
    else {
      this.#prepare();
      this.#completeIfJoined();
    }
  }

  get #nowMs(): number {
    return this.#options.world.nowMs;
  }
}

function keyOf({ topic, partition }: Place): string {
  return `${topic}/${partition}`;
}
