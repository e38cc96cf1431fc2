/** Consumer groups as the brokers see them: their members, and the partitions that these own. */
// By kafkajs's default export: Node cannot find `AssignerProtocol` among kafkajs's named exports.
import kafkajs from "kafkajs";
import type { KafkaConnection } from "../connection/connect.ts";

export interface GroupMembers {
  readonly groupId: string;
  /** False while the group is between two generations, when nobody owns a partition. */
  readonly isSettled: boolean;
  readonly members: number;
  /** The owned partitions, as `topic/partition`. */
  readonly owned: ReadonlySet<string>;
}

/** States of a group in which its members own their partitions, or in which it has none. */
const SETTLED: ReadonlySet<string> = new Set(["Stable", "Empty", "Dead"]);

/** Asks the groups' coordinators. Rejects where no broker answers. */
export async function readGroupMembers(
  connection: KafkaConnection,
  groupIds: readonly string[],
): Promise<readonly GroupMembers[]> {
  const { groups } = await connection.withAdmin((admin) => admin.describeGroups([...groupIds]));
  return groups.map(({ groupId, state, members }) => ({
    groupId,
    isSettled: SETTLED.has(state),
    members: members.length,
    owned: new Set(members.flatMap(({ memberAssignment }) => ownedOf(memberAssignment))),
  }));
}

function ownedOf(assignment: Buffer): readonly string[] {
  const decoded = kafkajs.AssignerProtocol.MemberAssignment.decode(assignment);
  return Object.entries(decoded?.assignment ?? {}).flatMap(([topic, partitions]) =>
    partitions.map((partition) => `${topic}/${partition}`),
  );
}
