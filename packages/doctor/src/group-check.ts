/** Checks of consumer groups: that a process reads each partition, and that commits stand inside their logs. */
import type { GroupMembers } from "@posthaste/kafka/topics/group-members";
import type { Check, Finding } from "./check.ts";
import type { CommittedRange, ReadGroup } from "./group-topics.ts";

export interface GroupParts {
  readonly groups: () => Promise<readonly ReadGroup[]>;
  readonly members: (groupIds: readonly string[]) => Promise<readonly GroupMembers[]>;
}

export function groupCheck({ groups, members }: GroupParts): Check {
  return {
    name: "groups",
    look: async () => {
      const wanted = await groups();
      const found = await members(wanted.map(({ groupId }) => groupId));
      return wanted.flatMap((group) =>
        groupFindings(
          group,
          found.find(({ groupId }) => groupId === group.groupId),
        ),
      );
    },
  };
}

function groupFindings(
  { groupId, service, partitions }: ReadGroup,
  found: GroupMembers | undefined,
): readonly Finding[] {
  if (partitions.length === 0) return [];
  const describe = `kafka-consumer-groups.sh --bootstrap-server BROKER:9092 --describe --group ${groupId}`;
  if (found === undefined || (found.isSettled && found.members === 0)) {
    const remedy = `Start ${service}; where it runs, its /readyz and its log say what it waits for. ${describe}`;
    return [{ state: "wrong", what: `No process is a member of ${groupId}: nobody reads its topics.`, remedy }];
  }
  // A rebalance ends within seconds; the alert Rebalancing tells of one that does not.
  if (!found.isSettled) return [];
  const [first, ...others] = partitions.filter((partition) => !found.owned.has(partition));
  if (first === undefined) return [];
  const which = others.length === 0 ? first : `${others.length + 1} partitions, ${first} among them`;
  return [
    {
      state: "wrong",
      what: `No member of ${groupId} owns ${which}.`,
      remedy: `Restart the processes of ${service} one at a time. ${describe} --members --verbose`,
    },
  ];
}

/** Records that delivery had not finished are the losses' to tell: somebody may have accepted those. */
export function offsetCheck(ranges: () => Promise<readonly CommittedRange[]>, ofLosses: readonly string[]): Check {
  return {
    name: "offsets",
    look: async () =>
      (await ranges()).flatMap(({ topic, partition, start, end, deleted, groupId }): readonly Finding[] => {
        const remedy =
          "Never reset the group's offsets to mend it: docs/runbooks/OffsetOutsideLog.md says what to do. " +
          `kafka-consumer-groups.sh --bootstrap-server BROKER:9092 --describe --group ${groupId}`;
        if (start > end) {
          const what = `${groupId} committed offset ${start} of ${topic}/${partition}, whose log ends at ${end}.`;
          return [{ state: "wrong", what, remedy }];
        }
        if (deleted === null || ofLosses.includes(groupId)) return [];
        const what = `${deleted.records} records of ${topic}/${partition} were deleted before ${groupId} finished them.`;
        return [{ state: "wrong", what, remedy }];
      }),
  };
}
