/** Damages of the rules of sending, consuming, routing and waiting (docs/design.md). */
import { damagesOf } from "./damages-of.mjs";

const CORE = "packages/core/src";
const KAFKA = "packages/kafka/src";
const DELIVERY = "services/delivery/src";
const ROUTER = "services/router/src";

const routing = damagesOf(`${ROUTER}/route-records.ts`, `${ROUTER}/route-records.test.ts`);
const dedupe = damagesOf(`${ROUTER}/dedupe.ts`, `${ROUTER}/dedupe.test.ts`);
const publisher = damagesOf(
  `${DELIVERY}/outcome/outcome-publisher.ts`,
  `${DELIVERY}/outcome/outcome-publisher.test.ts`,
);
const dueTime = damagesOf(`${CORE}/window/due-time.ts`, `${CORE}/window/due-time.test.ts`);
const tracker = damagesOf(`${CORE}/window/offset-tracker.ts`, `${CORE}/window/offset-tracker.test.ts`);
const metadata = damagesOf(`${CORE}/window/commit-metadata.ts`, `${CORE}/window/commit-metadata.test.ts`);
const lanes = damagesOf(`${CORE}/window/lanes.ts`, `${CORE}/window/lanes.test.ts`);
const origin = damagesOf(`${CORE}/delivery/origin.ts`, `${CORE}/delivery/origin.test.ts`);
const retryPlan = damagesOf(`${CORE}/delivery/retry-plan.ts`, `${CORE}/delivery/retry-plan.test.ts`);
const window = damagesOf(`${KAFKA}/consumer/partition-window.ts`, `${KAFKA}/consumer/partition-window.test.ts`);
const intake = damagesOf(`${KAFKA}/consumer/partition-intake.ts`, `${KAFKA}/consumer/partition-intake`);
const committer = damagesOf(`${KAFKA}/consumer/committer.ts`, `${KAFKA}/consumer/committer.test.ts`);
const rebalance = damagesOf(
  `${KAFKA}/consumer/rebalance.ts`,
  `${KAFKA}/consumer/rebalance.test.ts`,
  `${KAFKA}/consumer/`,
);
const table = damagesOf(`${KAFKA}/log/table.ts`, `${KAFKA}/log/table.test.ts`);
const queue = damagesOf(
  `${KAFKA}/producer/partition-queue.ts`,
  `${KAFKA}/producer/partition-queue.test.ts`,
  `${KAFKA}/producer/group-commit.test.ts`,
);
const groupCommit = damagesOf(`${KAFKA}/producer/group-commit.ts`, `${KAFKA}/producer/group-commit.test.ts`);
const configWait = damagesOf(`${DELIVERY}/check/config-wait.ts`, `${DELIVERY}/check/config-wait.test.ts`);
const destinationCheck = damagesOf(`${DELIVERY}/check/destination-check.ts`, `${DELIVERY}/check/`);
const suppression = damagesOf(`${DELIVERY}/check/suppression-check.ts`, `${DELIVERY}/check/`);
const budget = damagesOf(
  "packages/webhook/src/answer-budget.ts",
  "packages/webhook/src/answer-budget.test.ts",
  "packages/webhook/test/hostile-answers.test.ts",
);
const urlHealth = damagesOf(`${CORE}/isolation/url-health.ts`, `${CORE}/isolation/url-health.test.ts`);
const answerCost = damagesOf(
  `${CORE}/isolation/answer-cost.ts`,
  `${CORE}/isolation/answer-cost.test.ts`,
  `${CORE}/isolation/url-health.test.ts`,
);
const followUps = damagesOf(`${DELIVERY}/outcome/follow-ups.ts`, `${DELIVERY}/outcome/follow-ups.test.ts`);
const dueGate = damagesOf(`${DELIVERY}/intake/due-gate.ts`, `${DELIVERY}/intake/due-gate.test.ts`);

/** @type {typeof import("./damages.mjs").DAMAGES} */
export const ENGINE = [
  routing(
    "R4: the router finishes an event without waiting for its deliveries",
    "return producer.send(routed);",
    "void producer.send(routed);\n    task.finish();\n    return undefined;",
  ),
  routing(
    "the router sends deliveries of a suppressed user",
    "if (isEventSuppressed(suppressed, event))",
    "if (false)",
  ),
  routing(
    "the router sends a repeated event again",
    `if (firstOffset !== null) return { cause: "duplicate", firstOffset };`,
    "",
  ),
  routing(
    "R2: the deliveries of an event are written in falling order of destination",
    "return destinations.map(({ id: destinationId, payload }) => {",
    "return destinations.toReversed().map(({ id: destinationId, payload }) => {",
  ),
  damagesOf(`${ROUTER}/destinations.ts`, "services/router/test/destinations.test.ts")(
    "the router reads events before it has read the destinations",
    "  await destinations.caughtUp();\n",
    "",
  ),
  dedupe("DD2: the router keeps the message ids of a partition that it gave up", "partitions.delete(partition);", ""),
  publisher(
    "C2: a record is finished before its republished record is acknowledged",
    "this.#options.producer.send(traced).then(",
    "task.finish();\n    this.#options.producer.send(traced).then(",
  ),
  publisher("F3: a record of a lost partition is republished", "if (task.window.isRevoked) return;", ""),
  dueTime(
    "W1: the append time counts for nothing",
    "Math.max(appendedAtMs, republishedAtMs ?? appendedAtMs)",
    "republishedAtMs ?? 0",
  ),
  dueTime(
    "W1: the time of the republished record counts for nothing",
    "Math.max(appendedAtMs, republishedAtMs ?? appendedAtMs)",
    "appendedAtMs",
  ),
  tracker(
    "C1: the committable offset passes an unfinished record",
    "return this.#lowest?.offset ?? this.#position;",
    "return this.#position;",
  ),
  tracker(
    "C1: runs of an earlier owner are not committed again",
    "index < this.#finishedBefore.length && runs.length < most",
    "index < 0",
  ),
  metadata("C1: a run in the commit's metadata is one too long", "at = from + finished;", "at = from + finished + 1;"),
  metadata(
    "C1: the metadata leaves out its last run",
    "for (const { from, to } of runs) {",
    "for (const { from, to } of runs.slice(0, -1)) {",
  ),
  metadata("damaged metadata is read", "if (sum !== sumOf(version, body) ||", "if ("),
  lanes("lanes hold nothing back", "before.nextInLane = member;\n      return false;", "return true;"),
  origin(
    "D2: the checkpoint knows no repeat",
    "return greatest !== undefined && !isGreater(delivery, greatest.offset, greatest.destinationId);",
    "return false;",
  ),
  retryPlan(
    "W2: attempts are not counted",
    "attempts: progress.attempts + 1, notBeforeMs: null, urls }",
    "attempts: progress.attempts, notBeforeMs: null, urls }",
  ),
  retryPlan(
    "a delivery is retried after its window",
    "scheduledMs === undefined || nowMs + scheduledMs > started.deadlineMs",
    "scheduledMs === undefined",
  ),
  retryPlan(
    "I3: a delivery that was never attempted is given up",
    "const isOwed = started.attempts === 0 || wasAskedToOutwait(started, schedule);",
    "const isOwed = wasAskedToOutwait(started, schedule);",
  ),
  window(
    "PW1: a task of a lost partition is finished",
    "if (this.#revoked) return;\n    this.#running",
    "this.#running",
  ),
  window(
    "C6: a gained partition is not committed",
    "this.#passedState = checkpoint?.open(state) ?? null;\n    this.#hooks.onChanged();",
    "this.#passedState = checkpoint?.open(state) ?? null;\n    this.#changed = false;",
  ),
  window(
    "D3: records that an earlier owner finished are not noted again",
    "const isRepeat = noted !== undefined && this.#noteIntake(noted);",
    "const isRepeat = !finishedBefore && noted !== undefined && this.#noteIntake(noted);",
  ),
  window(
    "D3: the checkpoint of a commit lacks what has finished since the partition was opened",
    "onPassed: (noted) => this.#passedState?.note(noted),",
    "onPassed: () => undefined,",
  ),
  tracker(
    "D3: a record that finished above another is forgotten when the two are passed",
    "for (const note of finishedAbove?.notes ?? []) this.#onPassed(note);",
    "",
  ),
  intake("PI1: a batch from above the position is taken", `if (moved !== "taken") return moved === "old";`, ""),
  intake(
    "C4: tasks start between the drain and the join",
    `if (this.#mode !== "taking" || this.#frozen) return false;`,
    "",
  ),
  window(
    "D3: a commit saves the checkpoint of the intake",
    "state: this.#passedState?.encode() ?? null,",
    "state: this.#intakeState?.encode() ?? null,",
  ),
  damagesOf(`${KAFKA}/consumer/copied-record.ts`, `${KAFKA}/consumer/partition-intake-records.test.ts`)(
    "PI4: the key of a fetched record is not copied",
    "key: key === null ? null : Buffer.from(key),",
    "key,",
  ),
  damagesOf(`${KAFKA}/consumer/copied-record.ts`, `${KAFKA}/consumer/partition-intake-records.test.ts`)(
    "PI4: the value of a fetched record is not copied",
    "value: value === null ? null : Buffer.from(value),",
    "value,",
  ),
  damagesOf(`${CORE}/isolation/url-health.ts`, `${CORE}/isolation/`)(
    "W5: the gate is never shut",
    "this.#shutUntilMs = Math.max(this.#shutUntilMs, momentMs);",
    "",
  ),
  table(
    "T2: a removed key keeps no revision",
    "this.#revisions.set(key, revision);",
    "if (value !== undefined) this.#revisions.set(key, revision);\n    else this.#revisions.delete(key);",
  ),
  committer("K2: a refused commit is not due again", "for (const each of covered) each.commitFailed();", ""),
  rebalance(
    "C5: a partition that another member may have owned meanwhile is kept",
    "const kept = continuous ? owned.filter(isAssigned) : [];",
    "const kept = owned.filter(isAssigned);",
  ),
  rebalance(
    "a commit to an earlier topic of the name counts",
    "if (offset < 0 || isOfAnotherLog(offset, metadata, topicId))",
    "if (offset < 0)",
  ),
  queue(
    "P1: two batches of a partition are out at once",
    "return !this.#isOut && !this.isEmpty;",
    "return !this.isEmpty;",
  ),
  queue(
    "P2: a failed batch goes behind later records",
    "fail(): void {\n    this.#isOut = false;",
    "fail(): void {\n    this.#waiting.push(...this.#batch);\n    this.#batch = [];\n    this.#isOut = false;",
  ),
  groupCommit(
    "a call resolves at its first record",
    "if (call.unacknowledged === 0) call.resolve();",
    "call.resolve();",
  ),
  damagesOf(`${KAFKA}/producer/batch-sender.ts`, "packages/kafka/test/producer.test.ts", `${KAFKA}/producer/`)(
    "P3: a partition that is not named in the answer is acknowledged",
    "if (error === null) this.#options.queue.acknowledge(queue);",
    "if (error === null || true) this.#options.queue.acknowledge(queue);",
  ),
  table("P5: a table takes an older revision", "if (held !== undefined && revision < held) {", "if (false) {"),
  configWait(
    "V1: a delivery is judged by a table that lags",
    "if (this.#options.destinations.appliedOffset >= offset) {",
    "if (true) {",
  ),
  destinationCheck(
    "V3: a waiting delivery is not judged again",
    "return this.#options.destinations.get(destination.id) === destination;",
    "return true;",
  ),
  destinationCheck(
    "a delivery of a removed destination is forgotten",
    `refusals.deadLetter(task, delivery, "destination_removed");\n      return null;`,
    "return null;",
  ),
  suppression("V6: a suppressed user's delivery is sent", "if (this.#isSuppressed(task, delivery)) {", "if (false) {"),
  suppression(
    "V6: a table that is not current is believed",
    "if (suppressed.isCurrent) return destinationCheck.check(task, delivery);",
    "return destinationCheck.check(task, delivery);",
  ),
  followUps(
    "settle each: the URLs that failed are dropped",
    "const retries = settlement.retries.map((part) => {",
    "const retries = settlement.retries.slice(1).map((part) => {",
  ),
  damagesOf(`${CORE}/delivery/carried-moments.ts`, `${CORE}/delivery/carried-moments.test.ts`)(
    "W5: a Retry-After is as long as the reader's clock is behind",
    "if (behindMs <= 0) return progress;",
    "return progress;",
  ),
  dueGate("W6: second copies of republished records are sent", "return seen !== place;", "return false;"),
  table(
    "T2: a table passes over tombstones",
    "if (keyBytes === null) return;",
    "if (keyBytes === null || bytes === null) return;",
  ),
  table("T2: a table keeps the value of a removed key", "this.#values.delete(key);", "this.#values.get(key);"),
  budget("WB1: an answer has any number of bytes", "this.#overheadBytes > this.limits.overheadBytes ||", "false ||"),
  budget("WB1: an answer has any number of pieces", "this.#pieces > this.limits.pieces", "false"),
  budget("WB1: the answers of a connection share a budget", "this.#overheadBytes = 0;", ""),
  budget("WB1: the body counts beside its own bound", "this.#overheadBytes -= bytes;", ""),
  budget("WB2: all that has come is read in a turn", "isResting = true;", "isResting = false;"),
  budget(
    "WB5: a body has any number of small chunks",
    "return this.#bodyBytes >= (this.#chunks",
    "return 0 >= -(this.#chunks",
  ),
  budget("WB4: a head has any number of lines", "if (this.#headLines >= HEAD_LINES) return false;", ""),
  budget(
    "WB4: trailers and chunks have any length",
    "<= FRAMING_BYTES + this.#bodyBytes",
    "<= Number.POSITIVE_INFINITY",
  ),
  budget("WB4: lines of the body count", "this.#bytesAtHead = this.#overheadBytes;", ""),
  urlHealth(
    "UH1: an answer that goes over its budget after a good status is no failure",
    `if (end === "over_budget") this.#breaker.failed(nowMs, wasProbe);`,
    "",
  ),
  urlHealth(
    "UH8: what runs on is not counted among the failures that are left",
    "const mayFail = this.#endsWell || this.out < this.#breaker.failuresLeft;",
    "const mayFail = true;",
  ),
  damagesOf("packages/webhook/src/send.ts", "packages/webhook/test/hostile-endpoints.test.ts")(
    "SD3: a body that takes too long after a good status is no failure",
    "else this.#giveUp(new SendError(ANSWER_OVER_BUDGET,",
    "else this.#giveUp(new SendError(TIMED_OUT,",
  ),
  answerCost("YC1: an answer is dear though all cost as much", "DEAR_TIMES * this.#usual.valueMs", "0"),
  answerCost("YC1: a busy URL has all the votes", "nowMs - this.#votedMs >= VOTE_EVERY_MS", "true"),
  answerCost("YC2: a dear URL does not rest", "return nowMs < this.#restsUntilMs;", "return false;"),
  urlHealth(
    "UH7: a dear URL has as many requests out as any",
    "if (this.out > 0 && this.#cost.isDear) return false;",
    "",
  ),
  urlHealth(
    "UH7: a dear URL is waited for as a quick one",
    "if (this.#cost.isDear) return false;\n    return",
    "return",
  ),
  rebalance(
    "C7: a loss of a part is taken for a loss of all",
    "topicId }, offset) >= start;",
    "topicId }, offset) > offset;",
  ),
  rebalance("C7: an accepted loss forgets what was finished behind it", "({ to }) => to > start);", "() => false);"),
  damagesOf(
    "services/control/src/operations/losses/lost-delivery.ts",
    "services/control/src/operations/losses/losses.test.ts",
  )("why: a delivery that waits behind a gap is called lost", "verdict.dueAtMs - delayMs <= beforeMs && ", ""),
  damagesOf("packages/configuration/src/written-records.ts", "packages/configuration/src/written-records.test.ts")(
    "S4: a change from a base that was changed stands",
    "base === before.revision || base > before.base;",
    "true;",
  ),
];
