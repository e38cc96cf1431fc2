import fc from "fast-check";
import { expect, it } from "vitest";
import { compareAssignment, type TopicPartition } from "./rebalance.ts";

const place = fc.record({ topic: fc.constantFrom("a", "b"), partition: fc.nat(5) });
const places = fc.uniqueArray(place, { selector: ({ topic, partition }) => `${topic}:${partition}` });

function byTopic(each: readonly TopicPartition[]): Record<string, number[]> {
  const topics: Record<string, number[]> = {};
  for (const { topic, partition } of each) topics[topic] = [...(topics[topic] ?? []), partition];
  return topics;
}

const names = (each: readonly TopicPartition[]) => each.map(({ topic, partition }) => `${topic}:${partition}`).sort();

it("parts what was owned into kept and lost, and what is assigned into kept and gained (C5)", () => {
  fc.assert(
    fc.property(places, places, (owned, assigned) => {
      const { kept, lost, gained } = compareAssignment(owned, byTopic(assigned), true);
      expect(names([...kept, ...lost])).toEqual(names(owned));
      expect(names([...kept, ...gained])).toEqual(names(assigned));
      expect(names(kept)).toEqual(names(owned).filter((name) => names(assigned).includes(name)));
    }),
  );
});

it("keeps nothing when somebody else may have owned it in between", () => {
  const owned = [{ topic: "a", partition: 0 }];
  expect(compareAssignment(owned, { a: [0, 1] }, false)).toEqual({
    kept: [],
    lost: owned,
    gained: [
      { topic: "a", partition: 0 },
      { topic: "a", partition: 1 },
    ],
  });
});
