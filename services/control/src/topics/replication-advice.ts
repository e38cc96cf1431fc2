/**
 * Advice on whether the topics have as many copies as the cluster allows: the default is one copy, for a laptop. Pure.
 */

/** The number of copies that the design's failover relies on; more cost writes and gain little. */
const ENOUGH_REPLICAS = 3;

export interface ReplicationAdvice {
  readonly what: string;
  readonly remedy: string;
}

/**
 * The settings to change where each record has only one copy on a cluster of several brokers; null where there is no
 * advice.
 */
export function replicationAdvice(brokers: number, replicationFactor: number): ReplicationAdvice | null {
  if (brokers < 2 || replicationFactor > 1) return null;
  const replicas = Math.min(brokers, ENOUGH_REPLICAS);
  // With two copies, both would have to answer: with one broker down, nothing could be sent.
  const inSync = replicas === ENOUGH_REPLICAS ? " and POSTHASTE_MIN_INSYNC_REPLICAS to 2" : "";
  return {
    what: `POSTHASTE_REPLICATION_FACTOR is 1 on ${brokers} brokers: a broker that is lost takes its records with it.`,
    remedy: `Set it to ${replicas}${inSync}.`,
  };
}
