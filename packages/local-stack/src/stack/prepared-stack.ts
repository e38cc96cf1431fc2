/** The options of a stack, and its parts before it is started. */
import type { ClusterAddresses } from "../broker/cluster-view.ts";
import type { StackProcess } from "../process/stack-process.ts";

export interface LocalStackOptions {
  /** The folder of the stack's state; it is made when it is missing. */
  readonly dataDir: string;
  readonly brokers?: 1 | 3;
  /** The stack starts fast, where it would otherwise run long at less cost. */
  readonly shortLived?: boolean;
  /** The stack starts brokers of its own even where the environment names some: a fault test kills nobody else's. */
  readonly ignoreNamed?: boolean;
  /** URL of the Confluent API of a registry to use instead of one of the stack's own, beside brokers as processes. */
  readonly schemaRegistry?: string | undefined;
  /**
   * With this, Kafka takes TLS from users that log in, and each user may do only the granted operations; at first
   * nobody is granted anything. When it is absent, Kafka takes plain text from everybody.
   */
  readonly security?: StackSecurity;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with a line for each step. */
  readonly log: (line: string) => void;
  readonly onUnexpectedExit?: (name: string, reason: string) => void;
}

export interface StackSecurity {
  /** The brokers' logs have a line for each granted request too, and not only for denied ones. */
  readonly logsGranted: boolean;
}

export interface SecuredKafka {
  /** The addresses for the operator of the cluster, who may do everything. */
  readonly operator: ClusterAddresses;
  /** PEM file of the authority that clients are to trust. */
  readonly authorityFile: string;
}

/** The parts of a stack that is not started yet. */
export interface PreparedStack {
  readonly cluster: ClusterAddresses;
  readonly schemaRegistry: string;
  readonly secured?: SecuredKafka | undefined;
  readonly kafka: readonly StackProcess[];
  /** Undefined where somebody else runs the registry. */
  readonly registry: StackProcess | undefined;
}
