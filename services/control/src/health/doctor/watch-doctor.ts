/** The doctor's findings as a metric: it looks around once a minute, first when control has run for one. */
import type { Gauge } from "prom-client";
import type { Doctor } from "./doctor-routes.ts";

const EVERY_MS = 60_000;

/**
 * Begins to look a minute from now: a start has work enough, and other services may be starting too. Returns the
 * function that ends it. A round that goes on is not begun again.
 */
export function watchDoctor(lookAround: Doctor["lookAround"], findings: Gauge<"check" | "severity">): () => void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    for (const { name: check, findings: found } of await lookAround()) {
      const faults = found.filter(({ state }) => state === "wrong").length;
      findings.set({ check, severity: "fault" }, faults);
      findings.set({ check, severity: "warning" }, found.length - faults);
    }
    isLooking = false;
  };
  const timer = setInterval(() => void look(), EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
