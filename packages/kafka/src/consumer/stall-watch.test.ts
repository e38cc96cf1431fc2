import { expect, it } from "vitest";
import { StallWatch } from "./stall-watch.ts";

const place = { topic: "t", partition: 3 };

it("names the group when no commit was accepted for the limit (C7)", () => {
  const watch = new StallWatch("g", 3000);
  expect([watch.tick(1000), watch.tick(1000)]).toEqual([null, null]);
  expect(watch.tick(1000)).toMatchObject({ code: "group_stalled", message: expect.stringMatching(/group g .*commit/) });
});

it("names the partition of which nothing was fetched for the limit, while the group takes commits (C7)", () => {
  const watch = new StallWatch("g", 3000);
  watch.sawPartition(place);
  for (let second = 1; second < 3; second += 1) {
    watch.sawGroup();
    expect(watch.tick(1000)).toBeNull();
  }
  watch.sawGroup();
  expect(watch.tick(1000)).toMatchObject({ code: "group_stalled", message: expect.stringContaining("t partition 3") });
});

it("says nothing while all is heard of, nor of a partition that was given up", () => {
  const watch = new StallWatch("g", 2000);
  watch.sawPartition(place);
  watch.forget(place);
  for (let second = 0; second < 10; second += 1) {
    watch.sawGroup();
    expect(watch.tick(1000)).toBeNull();
  }
});

it("names a partition that is expected and never heard of, through joins too, and none of others' (C7)", () => {
  const watch = new StallWatch("g", 3000);
  watch.expectPartition({ topic: "t", partition: 4 });
  watch.expectPartition(place);
  for (let second = 1; second < 3; second += 1) {
    watch.sawGroup();
    expect(watch.tick(1000)).toBeNull();
    watch.expectPartition(place);
    watch.forget({ topic: "t", partition: 4 });
  }
  watch.sawGroup();
  expect(watch.tick(1000)).toMatchObject({ code: "group_stalled", message: expect.stringContaining("t partition 3") });
});
