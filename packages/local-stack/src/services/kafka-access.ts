/**
 * Makes the users of a secured Kafka and their grants by the access table, at each start.
 *
 * KA1  A user has the table's grants and no others: grants of an earlier table are taken back.
 * - Users are made after their grants. A broker learns of both in that order, so a user who can log in has its grants.
 */
import { accessTable, type Grant, KAFKA_USERS, type KafkaOperation } from "@posthaste/contracts/access";
import type { TopicNames } from "@posthaste/contracts/topics";
// These come from the default export, since Node does not find their names among kafkajs's.
import kafkajs, { type AclEntry, type AclFilter, type Admin } from "kafkajs";
import { type ClusterAddresses, withAdmin } from "../broker/cluster-view.ts";
import { putScramUsers, untilUsersAreKnown } from "../broker/scram-users.ts";
import type { User } from "../broker/secured-listeners.ts";

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

export interface AccessOptions {
  readonly operator: ClusterAddresses;
  readonly names: TopicNames;
  readonly users: readonly User[];
}

/** Resolves when every broker at `brokers`, the addresses for clients, lets the users in. */
export async function grantAccess(
  brokers: readonly string[],
  { operator, names, users }: AccessOptions,
): Promise<void> {
  const {
    brokers: [address = ""],
    tls,
  } = operator;
  await withAdmin({ address, tls }, (admin) => alterGrants(admin, accessTable(names).flatMap(toEntries)));
  await putScramUsers(operator, users);
  await untilUsersAreKnown({ brokers, ca: tls?.ca ?? "" }, users);
}

async function alterGrants(admin: Admin, wanted: readonly AclEntry[]): Promise<void> {
  const held = await readGrants(admin);
  const [wantedKeys, heldKeys] = [new Set(wanted.map(keyOf)), new Set(held.map(keyOf))];
  const lacking = wanted.filter((entry) => !heldKeys.has(keyOf(entry)));
  const surplus = held.filter((entry) => !wantedKeys.has(keyOf(entry)));
  if (lacking.length > 0) await admin.createAcls({ acl: [...lacking] });
  if (surplus.length > 0) await admin.deleteAcls({ filters: surplus.map((entry): AclFilter => entry) });
}

/** Returns the present grants of our users; grants of other users are left alone. */
async function readGrants(admin: Admin): Promise<readonly AclEntry[]> {
  const { resources } = await admin.describeAcls({
    resourceType: AclResourceTypes.ANY,
    resourcePatternType: ResourcePatternTypes.ANY,
    operation: AclOperationTypes.ANY,
    permissionType: AclPermissionTypes.ANY,
  });
  const ours = new Set<string>(KAFKA_USERS.map(principalOf));
  return resources.flatMap(({ acls, ...resource }) =>
    acls.filter(({ principal }) => ours.has(principal)).map((acl): AclEntry => ({ ...resource, ...acl })),
  );
}

const OPERATIONS: Readonly<Record<KafkaOperation, number>> = {
  read: AclOperationTypes.READ,
  write: AclOperationTypes.WRITE,
  describe: AclOperationTypes.DESCRIBE,
  create: AclOperationTypes.CREATE,
  alter: AclOperationTypes.ALTER,
  "describe-configs": AclOperationTypes.DESCRIBE_CONFIGS,
  "alter-configs": AclOperationTypes.ALTER_CONFIGS,
};

function toEntries({ user, resource, name, pattern, operations }: Grant): readonly AclEntry[] {
  return operations.map((operation) => ({
    resourceType: resource === "topic" ? AclResourceTypes.TOPIC : AclResourceTypes.GROUP,
    resourceName: name,
    resourcePatternType: pattern === "literal" ? ResourcePatternTypes.LITERAL : ResourcePatternTypes.PREFIXED,
    principal: principalOf(user),
    host: "*",
    operation: OPERATIONS[operation],
    permissionType: AclPermissionTypes.ALLOW,
  }));
}

function principalOf(user: string): string {
  return `User:${user}`;
}

function keyOf(entry: AclEntry): string {
  const { resourceType, resourceName, resourcePatternType, principal, host, operation, permissionType } = entry;
  return JSON.stringify([resourceType, resourceName, resourcePatternType, principal, host, operation, permissionType]);
}
