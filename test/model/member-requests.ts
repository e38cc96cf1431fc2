/**
 * The requests of a process's group member to the model's brokers: its coordinator's requests, and records.
 *
 * Owns: for each member, which of its questions for a partition's place was answered last.
 * MR1  An answer behind a later question's answer is no gain: the member joined again meanwhile, and goes by its
 *      question of then.
 */
import { protocolError } from "./broker-errors.ts";
import type { Committed, Group, Place } from "./group.ts";
import { type CoordinatorRequests, Member, type MemberCluster, type MemberOptions } from "./member.ts";
import type { Network } from "./network.ts";

/** The content of a commit, as the process sends it. */
export interface CommitAttempt {
  readonly groupId: string;
  readonly points: readonly Committed[];
}

export interface MemberRequestsOptions
  extends Pick<MemberOptions, "world" | "random" | "owner" | "log" | "heartbeatMs"> {
  readonly network: Network;
  readonly groups: ReadonlyMap<string, Group>;
  readonly onCommit: (attempt: CommitAttempt) => void;
  /** The process learns where it begins, and the finished offsets there. */
  readonly onPlace: (groupId: string, place: Place, committed: Committed | undefined) => void;
}

/** Throws where the model has no such group. Until `isGone` says so the member is answered. */
export function createMember(
  options: MemberRequestsOptions,
  settings: ConsumerSettings,
  isGone: () => boolean,
): Member {
  const { world, random, owner, log, network, groups, heartbeatMs } = options;
  const { groupId } = settings;
  const group = groups.get(groupId);
  if (group === undefined) throw new Error(`the model has no group ${groupId}`);
  const places = new PlaceQuestions();
  const cluster: MemberCluster = {
    findGroupCoordinator: async () => coordinatorOf(options, { groupId, group, isGone, places }),
    getNodeIds: () => [1],
  };
  for (const assigner of settings.partitionAssigners) assigner({ cluster, groupId, logger: undefined });
  const member = new Member({
    ...{ world, random, owner, log, cluster, groupId, heartbeatMs, isGone },
    fetch: (from, offset, most) =>
      network.ask((answer) => answer.resolve({ records: from.from(offset, most), end: from.end }), isGone),
  });
  return member;
}

interface MemberParts {
  readonly groupId: string;
  readonly group: Group;
  readonly isGone: () => boolean;
  readonly places: PlaceQuestions;
}

/** MR1. */
class PlaceQuestions {
  #asked = 0;
  readonly #answered = new Map<string, number>();

  ask(): number {
    return ++this.#asked;
  }

  /** Whether no later question for this place was answered before. */
  isNews(question: number, { topic, partition }: Place): boolean {
    const key = `${topic}/${partition}`;
    if (question < (this.#answered.get(key) ?? 0)) return false;
    this.#answered.set(key, question);
    return true;
  }
}

function coordinatorOf(
  { network, onCommit, onPlace }: MemberRequestsOptions,
  { groupId, group, isGone, places: questions }: MemberParts,
): CoordinatorRequests {
  return {
    joinGroup: ({ memberId }) => network.ask((answer) => group.join(memberId, answer), isGone),
    syncGroup: ({ memberId, generationId }) =>
      network.ask((answer) => group.sync(memberId, generationId, answer), isGone),
    heartbeat: ({ memberId, groupGenerationId }) =>
      network.ask((answer) => group.heartbeat(memberId, groupGenerationId, answer), isGone),
    leaveGroup: ({ memberId }) => network.ask((answer) => answer.resolve(group.leave(memberId)), isGone),
    offsetCommit: (request) => {
      const { memberId, groupGenerationId, topics } = request as CommitRequest;
      const points = topics.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset, metadata }) => ({ topic, partition, offset: Number(offset), metadata })),
      );
      onCommit({ groupId, points });
      return network.ask((answer) => group.commit(memberId, groupGenerationId, points, answer), isGone);
    },
    offsetFetch: (request) => {
      const question = questions.ask();
      const { topics } = request as PlacesRequest;
      const places = topics.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition }) => ({ topic, partition })),
      );
      return network
        .ask<readonly (Committed | undefined)[]>(({ resolve, reject }) => {
          if (group.quietForMs < 0) reject(protocolError("GROUP_LOAD_IN_PROGRESS"));
          else resolve(places.map((place) => group.committedAt(place)));
        }, isGone)
        .then((committed) => {
          for (const [index, place] of places.entries()) {
            if (questions.isNews(question, place)) onPlace(groupId, place, committed[index]);
          }
          return { responses: places.map((place, index) => toOffsetAnswer(place, committed[index])) };
        });
    },
  };
}

export interface ConsumerSettings {
  readonly groupId: string;
  readonly partitionAssigners: readonly ((config: object) => object)[];
}

interface CommitRequest {
  readonly memberId: string;
  readonly groupGenerationId: number;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly offset: string; readonly metadata: string }[];
  }[];
}

interface PlacesRequest {
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number }[];
  }[];
}

function toOffsetAnswer({ topic, partition }: Place, committed: Committed | undefined): object {
  const { offset = -1, metadata = "" } = committed ?? {};
  return { topic, partitions: [{ partition, offset: String(offset), metadata, errorCode: 0 }] };
}
