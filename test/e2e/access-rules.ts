/** The grants of the access table as Kafka's authorizer has them. */
import type { Grant, KafkaUser } from "@posthaste/contracts/access";
import type { Authorization } from "./authorizer-log.ts";

/** As the authorizer writes that the grant let an operation through that it is named for, and not only a lesser one. */
export function rulesOf({ user, resource, name, pattern, operations }: Grant): readonly string[] {
  const of = `resourceType=${resource.toUpperCase()}, resourceName=${name}, patternType=${pattern.toUpperCase()}`;
  return operations.map((operation) => {
    const kafkas = operation.toUpperCase().replace("-", "_");
    const acl = `${of}, principal=User:${user}, host=*, operation=${kafkas}, permissionType=ALLOW`;
    return `${kafkas} by MatchingAcl(acl=StandardAcl(${acl}))`;
  });
}

/** The operation, its resource and its user. */
export function keyOf({ user, operation, resource }: Authorization): string {
  return `${user} ${operation} ${resource}`;
}

/** Whether the table lets a user read a topic, or write to it. */
export function mayOnTopic(
  table: readonly Grant[],
  {
    user,
    operation,
    topic,
  }: { readonly user: KafkaUser; readonly operation: "read" | "write"; readonly topic: string },
): boolean {
  return table.some(
    ({ user: whose, resource, name, pattern, operations }) =>
      whose === user &&
      resource === "topic" &&
      (pattern === "literal" ? topic === name : topic.startsWith(name)) &&
      operations.includes(operation),
  );
}
