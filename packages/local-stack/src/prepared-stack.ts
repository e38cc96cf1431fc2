/** What a stack is prepared from, and its parts before it is started. */
import type { ClusterAddresses } from "./cluster-view.ts";
import type { StackProcess } from "./stack-process.ts";

export interface LocalStackOptions {
  /** Where state is kept; made when it lacks. */
  readonly dataDir: string;
  readonly brokers?: 1 | 3;
  /** Tuned to start fast instead of to run long. */
  readonly shortLived?: boolean;
  /** Start one of its own even where the environment names brokers: a fault test kills nobody else's. */
  readonly ignoreNamed?: boolean;
  /** Kafka over TLS, for who logs in and was granted something; nobody is yet. Absent: in plain text, for everybody. */
  readonly security?: StackSecurity;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told what is being done, a line at a time. */
  readonly log: (line: string) => void;
  readonly onUnexpectedExit?: (name: string, reason: string) => void;
}

export interface StackSecurity {
  /** Also what was granted stands in the brokers' logs, a line a request, and not only what was denied. */
  readonly logsGranted: boolean;
}

export interface SecuredKafka {
  /** The way in for whoever runs the cluster, who may do everything. */
  readonly operator: ClusterAddresses;
  /** PEM file of the authority that clients are to trust. */
  readonly authorityFile: string;
}

/** Parts of a stack that is not started yet. */
export interface PreparedStack {
  readonly cluster: ClusterAddresses;
  readonly schemaRegistry: string;
  readonly secured?: SecuredKafka | undefined;
  readonly kafka: readonly StackProcess[];
  readonly registry: StackProcess;
}
