/**
 * From a scenario that fails to one that fails with as little as possible: fast-check's own way takes ten thousands of
 * runs.
 */
import type { Scenario } from "./scenario.ts";

/** `stillFails`: whether a scenario breaks the same rule as the first one. */
export async function smallestScenario(
  failing: Scenario,
  stillFails: (scenario: Scenario) => Promise<boolean>,
): Promise<Scenario> {
  let smallest = failing;
  for (let hasShrunk = true; hasShrunk; ) {
    hasShrunk = false;
    for (const smaller of smallerOnes(smallest)) {
      if (!(await stillFails(smaller))) continue;
      smallest = smaller;
      hasShrunk = true;
      break;
    }
  }
  return smallest;
}

function* smallerOnes(scenario: Scenario): Generator<Scenario> {
  const { actions, destinations } = scenario;
  for (let part = actions.length >> 1; part >= 1; part >>= 1) {
    for (let from = 0; from < actions.length; from += part)
      yield { ...scenario, actions: without(actions, from, part) };
  }
  if (scenario.routers > 1) yield { ...scenario, routers: scenario.routers - 1 };
  if (scenario.deliverers > 1) yield { ...scenario, deliverers: scenario.deliverers - 1 };
  if (scenario.partitions > 1) yield { ...scenario, partitions: scenario.partitions - 1 };
  if (destinations.length > 1) {
    for (let at = 0; at < destinations.length; at += 1) {
      yield { ...scenario, destinations: without(destinations, at, 1) };
    }
  }
  for (const [at, { atMs, action }] of actions.entries()) {
    if (action.kind !== "events" || action.count === 1) continue;
    yield { ...scenario, actions: actions.with(at, { atMs, action: { ...action, count: action.count >> 1 } }) };
  }
}

function without<E>(list: readonly E[], from: number, count: number): readonly E[] {
  return [...list.slice(0, from), ...list.slice(from + count)];
}
