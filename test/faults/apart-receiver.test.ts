import { expect, it, onTestFinished } from "vitest";
import { fromLine, startApartReceiver, toLine } from "./apart-receiver.ts";
import type { Arrival } from "./arrivals.ts";
import { machineMs, PRECISION_MS } from "./machine-clock.ts";

it("answers, and tells each event by when it came", async () => {
  const receiver = await startApartReceiver();
  onTestFinished(receiver.close);
  const arrivals: Arrival[] = [];
  const reported = new Promise<void>((resolve) => {
    receiver.tell((arrival) => {
      arrivals.push(arrival);
      if (arrivals.length === 2) resolve();
    });
  });
  const times: number[] = [];
  for (const sequence of [1, 2]) {
    times.push(performance.now());
    const response = await fetch(`${receiver.url}/path`, {
      method: "POST",
      headers: { "x-message-id": `message-${sequence}` },
      body: JSON.stringify({ userId: "user", properties: { sequence } }),
    });
    expect(response.status).toBe(200);
    times.push(performance.now());
  }
  await reported;
  expect(arrivals).toMatchObject([
    { messageId: "message-1", userId: "user", sequence: 1 },
    { messageId: "message-2", userId: "user", sequence: 2 },
  ]);
  const moments = [times[0], arrivals[0]?.atMs, times[1], times[2], arrivals[1]?.atMs, times[3]].map(Number);
  const gapsMs = moments.slice(1).map((atMs, index) => atMs - Number(moments[index]));
  expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(-PRECISION_MS);
});

it("keeps an event's time however late it is read", () => {
  const before = performance.now();
  const line = toLine({ messageId: "message", userId: "user", sequence: 7, atMs: machineMs() - 90_000 });
  const arrival = fromLine(line);
  expect(arrival).toMatchObject({ messageId: "message", userId: "user", sequence: 7 });
  expect(arrival.atMs).toBeGreaterThanOrEqual(before - 90_000 - PRECISION_MS);
  expect(arrival.atMs).toBeLessThanOrEqual(performance.now() - 90_000);
});
