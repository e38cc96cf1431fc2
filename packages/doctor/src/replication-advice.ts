/** Advice on the copies of each record, where they are too few to keep customer data. Pure. */
import { replicationOf } from "@posthaste/kafka/topics/topic-plan";

export interface ReplicationAdvice {
  readonly what: string;
  readonly remedy: string;
}

/** Null where each record has two copies or more on a cluster of three brokers or more. */
export function replicationAdvice(brokers: number, replicationFactor: number): ReplicationAdvice | null {
  const { replicationFactor: replicas, minInsyncReplicas } = replicationOf(brokers);
  if (brokers > 1 && replicationFactor === 1) {
    return {
      what: `Each record has one copy on ${brokers} brokers: a broker that is lost takes its records with it.`,
      remedy: `Give the topics ${replicas} copies and min.insync.replicas ${minInsyncReplicas}: docs/operating.md, "Copies".`,
    };
  }
  if (brokers > 2) return null;
  return {
    what:
      brokers < 2
        ? "The cluster has one broker: a lost disk takes every record with it."
        : "The cluster has two brokers: while one is down, each record has one copy.",
    remedy: "Run three brokers where customer data is kept.",
  };
}
