/** A check of the doctor, and its finding. */
import { isPosthasteError } from "@posthaste/core/errors";
import { withDeadline } from "@posthaste/kafka/connection/deadline";

/** The states from the best to the worst; `unknown`: the doctor could not look at the thing. */
export const CHECK_STATES = ["ok", "warning", "unknown", "wrong"] as const;
export type CheckState = (typeof CHECK_STATES)[number];

export interface Finding {
  readonly state: Exclude<CheckState, "ok">;
  /** A sentence. */
  readonly what: string;
  /** The reader's next step, also a sentence. */
  readonly remedy: string;
}

export interface Check {
  readonly name: string;
  /** How long a look may take, in ms; 8 s by default. */
  readonly timeoutMs?: number;
  /** Resolves with no finding where all is well. Where it rejects, the check's state is `unknown`. */
  readonly look: () => Promise<readonly Finding[]> | readonly Finding[];
}

export interface CheckResult {
  readonly name: string;
  /** The state of the worst finding. */
  readonly state: CheckState;
  readonly findings: readonly Finding[];
}

const LOOK_TIMEOUT_MS = 8000;

/** Never rejects. */
export async function runCheck({ name, look, timeoutMs = LOOK_TIMEOUT_MS }: Check): Promise<CheckResult> {
  const findings = await withDeadline((async () => look())(), timeoutMs, "what was asked").catch(unknown);
  const worst = Math.max(0, ...findings.map(({ state }) => CHECK_STATES.indexOf(state)));
  return { name, state: CHECK_STATES[worst] ?? "unknown", findings };
}

function unknown(reason: unknown): readonly Finding[] {
  const why = isPosthasteError(reason) ? `: ${reason.message}` : "";
  return [
    {
      state: "unknown",
      what: `This could not be looked at${why}.`,
      remedy: "See whether the brokers and the schema registry answer control, and ask again.",
    },
  ];
}
