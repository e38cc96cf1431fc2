/** An admission that tests admit deliveries to, and the fate of each delivery. */
import { expect } from "vitest";
import type { SettleRule } from "../src/config/destination.ts";
import { type AdmissionSettings, DestinationAdmission } from "../src/isolation/admission.ts";
import { ConnectionBudget } from "../src/isolation/connection-budget.ts";
import type { LoadContext } from "../src/isolation/load-context.ts";
import type { AdmissionRequest, Permit } from "../src/isolation/permit.ts";
import type { RequestEnd, RequestOutcome } from "../src/isolation/url-health.ts";

export const SETTINGS: AdmissionSettings = {
  limit: { first: 4, least: 1, enough: 64, most: 64 },
  breaker: { threshold: 5, firstOpenMs: 1000, longestOpenMs: 8000 },
  longestWaitMs: 10_000,
};
export const AMONG_OTHERS: LoadContext = { isAlone: false, isFilling: false, isCrowding: false, isScarce: false };
export const ALONE: LoadContext = { ...AMONG_OTHERS, isAlone: true };
export const FILLING: LoadContext = { ...AMONG_OTHERS, isFilling: true };
export const SCARCE: LoadContext = { ...FILLING, isScarce: true };
export const CROWDING: LoadContext = { ...FILLING, isCrowding: true };

export const A = "https://a.example/";
export const B = "https://b.example/";

export const one: AdmissionRequest = { owed: null, isRetry: false };
export const back: AdmissionRequest = { owed: null, isRetry: true };

export type Admission = DestinationAdmission<AdmissionRequest>;
export type Given = Permit<AdmissionRequest>;

export function admissionOf(
  urls: readonly string[] = [A],
  settle: SettleRule = "any",
  shared = new ConnectionBudget(1000),
) {
  const admission: Admission = new DestinationAdmission(SETTINGS, shared);
  admission.configure(urls, settle);
  return admission;
}

/** The fate of a delivery that arrived: the URLs that it goes to, the cause of its deferral, or null while it waits. */
export function arrive(
  admission: Admission,
  nowMs: number,
  context = AMONG_OTHERS,
  request = one,
): readonly string[] | null {
  const permit = admission.admit(request, nowMs, () => context);
  return permit === null ? null : reported(permit);
}

export function reported(permit: Given): readonly string[] {
  if (permit.isGiven) return permit.lines.map(({ health }) => health.url);
  return permit.deferred.map(({ cause }) => cause);
}

export function given(admission: Admission, nowMs: number, request = one): Given {
  const permit = admission.admit(request, nowMs, () => AMONG_OTHERS);
  if (permit === null || !permit.isGiven) throw new Error("the delivery got no permit");
  return permit;
}

/** The end, within its budget, of a request with this outcome. */
export function endOf(outcome: RequestOutcome): RequestEnd {
  return outcome === "delivered" || outcome === "refused" ? "well" : "failed";
}

/** One URL of a permit comes to an outcome and ends. */
export function finish(permit: Given, outcome: RequestOutcome, nowMs: number, url = A): void {
  const index = permit.lines.findIndex(({ health }) => health.url === url);
  const health = permit.lines[index]?.health;
  if (health === undefined) throw new Error(`${url} was not called`);
  health.settled(outcome, { startedMs: permit.startedMs, wasProbe: permit.wasProbe(index) }, nowMs);
  health.ended(endOf(outcome), permit.wasProbe(index), nowMs);
}

/** Every request took so long, and the limit was halved for it. */
export function practised(takesMs: number, shared?: ConnectionBudget): Admission {
  const admission = admissionOf([A], "any", shared);
  finish(given(admission, 0), "throttled", takesMs);
  return admission;
}

export function fill(admission: Admission, nowMs: number): void {
  while (arrive(admission, nowMs, ALONE) !== null);
  expect(admission.waiting).toBe(1);
}

/** Its URL failed until its breaker opened. */
export function broken(admission: Admission, outcome: RequestOutcome, nowMs: number, url = A): void {
  for (let failures = 0; failures < SETTINGS.breaker.threshold; failures++) {
    finish(given(admission, nowMs, { owed: [url], isRetry: true }), outcome, nowMs, url);
  }
}
