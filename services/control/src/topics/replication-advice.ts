/** Whether the topics are copied as often as the cluster allows: one copy is the default, for a laptop. Pure. */

/** As many copies as the failover of the design counts on; more cost writes and gain little. */
const ENOUGH_REPLICAS = 3;

export interface ReplicationAdvice {
  readonly what: string;
  readonly remedy: string;
}

/** What to set when each record stands on one of several brokers alone; null when there is nothing to say. */
export function replicationAdvice(brokers: number, replicationFactor: number): ReplicationAdvice | null {
  if (brokers < 2 || replicationFactor > 1) return null;
  const replicas = Math.min(brokers, ENOUGH_REPLICAS);
  // Of two copies both would have to answer: one broker down, and nothing could be sent.
  const inSync = replicas === ENOUGH_REPLICAS ? " and POSTHASTE_MIN_INSYNC_REPLICAS to 2" : "";
  return {
    what: `POSTHASTE_REPLICATION_FACTOR is 1 on ${brokers} brokers: a broker that is lost takes its records with it.`,
    remedy: `Set it to ${replicas}${inSync}.`,
  };
}
