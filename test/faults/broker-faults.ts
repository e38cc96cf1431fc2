/**
 * A fault run's faults of brokers: its choice of a broker, the fault, and the moment when the cluster does without it.
 */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { ClusterView } from "@posthaste/local-stack/cluster-view";
import type { StackProcess } from "@posthaste/local-stack/stack-process";
import type { System } from "@posthaste/local-stack/system";
import { eventually } from "@posthaste/testkit/eventually";
import { pause } from "./pause.ts";

export const ROLES = [
  "leader of a deliveries partition",
  "coordinator of the delivery group",
  "active controller",
] as const;
export type Role = (typeof ROLES)[number];
export const FAULTS = ["killed", "stopped", "hung"] as const;
export type Fault = (typeof FAULTS)[number];

export interface Row {
  readonly role: Role | "two brokers of three";
  readonly fault: Fault;
  /** From the fault to the restart or the resumption. */
  readonly forMs: number;
}

export interface Cluster {
  readonly system: System;
  readonly names: TopicNames;
  readonly view: ClusterView;
}

/** The name of the broker that has the role now; it is asked for until there is one. */
export function brokerOf(role: Role, { view, names }: Cluster): Promise<string> {
  return eventually(async () => {
    const name = await currentBroker(role, view, names);
    if (name === undefined) throw new Error(`there is no ${role}`);
    return name;
  });
}

/** The brokers that a row is about: the broker that has the role, or the leader of a partition and one more. */
export async function brokersOf({ role }: Row, cluster: Cluster): Promise<readonly StackProcess[]> {
  if (role !== "two brokers of three") return [cluster.system.process(await brokerOf(role, cluster))];
  const leader = await brokerOf("leader of a deliveries partition", cluster);
  const other = ["kafka-1", "kafka-2", "kafka-3"].find((name) => name !== leader) ?? leader;
  return [cluster.system.process(leader), cluster.system.process(other)];
}

/** Does it, waits and undoes it; resolves when the brokers are back. */
export async function inflict({ fault, forMs }: Row, brokers: readonly StackProcess[]): Promise<void> {
  const begin = { killed: "kill", stopped: "stop", hung: "hang" } as const;
  await Promise.all(brokers.map((broker) => broker[begin[fault]]()));
  await pause(forMs);
  await Promise.all(brokers.map((broker) => (fault === "hung" ? broker.resume() : broker.start())));
}

/** The roles that any of the brokers has now. */
export async function rolesOf(brokers: readonly StackProcess[], { view, names }: Cluster): Promise<readonly Role[]> {
  const brokersNow = await Promise.all(ROLES.map((role) => currentBroker(role, view, names).catch(() => undefined)));
  return ROLES.filter((_, index) => brokers.some(({ name }) => name === brokersNow[index]));
}

/**
 * Waits until every partition has all of its replicas in sync: the remains of an earlier fault would count for this
 * one.
 */
export function untilWhole({ view }: Cluster): Promise<void> {
  return eventually(
    async () => {
      const lacking = (await view.partitions()).filter(({ inSync, replicas }) => inSync.length < replicas.length);
      if (lacking.length > 0) throw new Error(`${lacking.length} partitions lack a replica`);
    },
    { timeoutMs: 180_000, intervalMs: 500 },
  );
}

/**
 * Returns how many ms from now the cluster did without the broker: it leads nothing, no acknowledgement waits for it,
 * and the active controller is another. As those say that answer, who are asked every `pollMs`; null when it was not so
 * within `timeoutMs`.
 */
export async function untilReplaced(
  broker: string,
  { view }: Cluster,
  { timeoutMs, pollMs }: { readonly timeoutMs: number; readonly pollMs: number },
): Promise<number | null> {
  const startMs = performance.now();
  while (performance.now() - startMs < timeoutMs) {
    const [partitions, controller] = await Promise.all([view.partitions(), view.activeController()]).catch(() => []);
    const holds = partitions?.some(({ leader, inSync }) => leader === broker || inSync.includes(broker)) ?? true;
    if (!holds && controller !== broker) return performance.now() - startMs;
    await pause(pollMs);
  }
  return null;
}

/** Has every broker and every service run again, whatever a round that failed has left. */
export async function mend({ system }: Cluster): Promise<void> {
  await Promise.all(system.processes.map((each) => (each.pid === undefined ? each.start() : each.resume())));
}

function currentBroker(role: Role, view: ClusterView, names: TopicNames): Promise<string | undefined> {
  switch (role) {
    case "leader of a deliveries partition":
      return view.leaderOf(names.deliveries, 0);
    case "coordinator of the delivery group":
      return view.coordinatorOf(names.deliveryGroup);
    case "active controller":
      return view.activeController();
  }
}
