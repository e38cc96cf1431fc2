import { describe, expect, it } from "vitest";
import { useCommand } from "./harness.ts";

const command = useCommand();
const { posthaste, lastBody } = command;

const PATH = "POST /v1/topics/accept-loss";
const RANGE = { topic: "posthaste.deliveries.retry-10s", partition: 3, from: 120, to: 4712 };
const LOSS = { ...RANGE, records: 4500 };
const accept = ["topics", "accept-loss"];

describe("a loss", () => {
  it("is shown and not accepted under --dry-run, and 3 when there is none", async () => {
    command.control.script(PATH, { losses: [LOSS], accepted: false });
    const { code, stdout } = await posthaste([...accept, "--dry-run"]);
    expect([code, stdout]).toEqual([0, "posthaste.deliveries.retry-10s\t3\t120\t4712\t4500\n"]);
    expect([command.control.requests.length, lastBody()]).toEqual([1, {}]);
    command.control.script(PATH, { losses: [], accepted: false });
    expect((await posthaste([...accept, "--yes"])).code).toBe(3);
    expect(lastBody()).toEqual({});
  });

  it("is accepted after a yes, as it was shown", async () => {
    command.control.script(PATH, { losses: [LOSS], accepted: false });
    const asked = await posthaste(accept);
    expect([asked.code, asked.stderr]).toEqual([
      2,
      expect.stringContaining("Go on without 4500 deliveries in 1 range?"),
    ]);
    expect(lastBody()).toEqual({});
    expect((await posthaste([...accept, "--yes"])).code).toBe(0);
    expect(lastBody()).toEqual({ losses: [RANGE] });
  });
});
