/**
 * The pipeline joins the stages of a delivery: intake, check, admission, attempt, outcome. A stage gets the next one
 * through a port that it names itself, so that the last stage is made first.
 */
import type { Destination } from "@posthaste/core/config/destination";
import type { UrlHealthSettings } from "@posthaste/core/isolation/url-health";
import type { Log } from "@posthaste/core/log";
import type { Table } from "@posthaste/kafka/log/table";
import type { Traces } from "@posthaste/runtime/traces";
import type { WebhookSender } from "@posthaste/webhook/sender";
import { ActiveDestinations } from "./admission/active-destinations.ts";
import { Admission } from "./admission/admission.ts";
import { RetryBacklog } from "./admission/retry-backlog.ts";
import { Attempts } from "./attempt/attempts.ts";
import { Check } from "./check/check.ts";
import { DestinationCheck } from "./check/destination-check.ts";
import { type KnownSuppressions, SuppressionCheck } from "./check/suppression-check.ts";
import { DestinationsCounts } from "./health/health-counts.ts";
import { Intake, type IntakeOptions } from "./intake/intake.ts";
import { Outcomes, type OutcomesOptions } from "./outcome/outcomes.ts";

/** The needs of the stages besides one another; `onFailure` hears of failures in all of them. */
export interface PipelineOptions
  extends Omit<IntakeOptions, "check" | "retryBacklog">,
    Pick<OutcomesOptions, "publisher" | "attemptLog"> {
  readonly destinations: Pick<Table<Destination>, "get" | "appliedOffset" | "waitForOffset" | "refresh">;
  readonly suppressed: KnownSuppressions;
  readonly sender: Pick<WebhookSender, "attempt" | "maxConnections">;
  readonly health: UrlHealthSettings;
  readonly log: Log;
  /** Absent while traces are off. */
  readonly traces?: Traces | undefined;
}

export interface Pipeline {
  /** Records enter here. */
  readonly intake: Intake;
  readonly admission: Admission;
  readonly attempts: Attempts;
  readonly activeDestinations: ActiveDestinations;
  readonly retryBacklog: RetryBacklog;
  readonly healthCounts: DestinationsCounts;
  /** Closes the stages. Records that wait in one stay in their windows, for the partition's next owner to read. */
  readonly close: () => void;
}

export function createPipeline(options: PipelineOptions): Pipeline {
  const { sender, schedule, clock, metrics } = options;
  const activeDestinations = new ActiveDestinations({
    settings: {
      ...options.health,
      breaker: { ...options.health.breaker, onChange: (state) => (metrics.breakerTransitions[state] += 1) },
      longestWaitMs: Math.min(...schedule.delaysMs),
    },
    connections: sender.maxConnections,
    monotonicMs: clock.monotonicMs,
  });
  const retryBacklog = new RetryBacklog(activeDestinations, clock.monotonicMs);
  const healthCounts = new DestinationsCounts();
  const outcomes = new Outcomes({ ...options, retryBacklog, healthCounts });
  const attempts = new Attempts({ ...options, outcomes });
  const destinationCheck = new DestinationCheck({ ...options, refusals: outcomes });
  const suppressionCheck = new SuppressionCheck({
    suppressed: options.suppressed,
    destinationCheck,
    refusals: outcomes,
    checkAgain: (task, delivery) => check.check(task, delivery),
  });
  const admission = new Admission({
    destinations: activeDestinations,
    attempts,
    deferrals: outcomes,
    recheck: suppressionCheck,
    retryWindowMs: schedule.windowMs,
    clock,
    onFirstAttempt: (delayMs) => metrics.firstAttemptDelay.record(Math.max(0, delayMs) / 1000),
  });
  metrics.destinations.watch(() => activeDestinations.states());
  const check: Check = new Check({ ...options, suppressionCheck, admission });
  const intake = new Intake({ ...options, check, retryBacklog });
  return {
    intake,
    admission,
    attempts,
    activeDestinations,
    retryBacklog,
    healthCounts,
    close: () => {
      intake.close();
      check.close();
      admission.close();
      activeDestinations.close();
    },
  };
}
