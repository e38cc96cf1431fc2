import { describe, expect, it } from "vitest";
import { useCommand } from "./harness.ts";

const command = useCommand();
const { posthaste, lastBody } = command;

const UNREADABLE = {
  ...{ place: "posthaste.events/3/1207", topic: "posthaste.events", partition: 3, offset: 1207, bytes: 12 },
  ...{ reason: "unknown_schema", error: "schema 9 of a record was not learnt", by: "router", reproduced: false },
  time: "2026-11-22T10:00:00.000Z",
};

describe("unreadable records", () => {
  it("are listed newest first, with why; 3 when there are none", async () => {
    command.control.script("GET /v1/unreadable", { data: [UNREADABLE], nextCursor: null });
    const list = ["dead-letters", "unreadable", "list", "--reason", "unknown_schema", "--reproduced", "--limit", "5"];
    const { code, stdout } = await posthaste(list);
    const { time, place, reason, error } = UNREADABLE;
    expect([code, stdout]).toEqual([0, `${[time, place, reason, 12, "router", error].join("\t")}\n`]);
    const query = "/v1/unreadable?reason=unknown_schema&reproduced=true&limit=5";
    expect(command.control.requests[0]?.target).toBe(query);
    command.control.script("GET /v1/unreadable", { data: [], nextCursor: null });
    expect((await posthaste(["dead-letters", "unreadable", "list"])).code).toBe(3);
  });

  /** So many match; each call produces `step` at the most. */
  const scriptReproduce = (matched: number, step: number): void => {
    let left = matched;
    command.control.scriptRequest("POST /v1/unreadable/reproduce", ({ body }) => {
      const { dryRun = false } = JSON.parse(body.toString());
      const answer = { matched: left, reproduced: dryRun ? 0 : Math.min(step, left) };
      left -= answer.reproduced;
      const nextCursor = left === 0 || dryRun ? null : `behind-${matched - left}`;
      return { body: JSON.stringify({ ...answer, refused: 0, refusedPlaces: [], nextCursor }) };
    });
  };

  it("are only counted under --dry-run, and 3 when nothing matches", async () => {
    scriptReproduce(2, 2);
    const reproduce = ["dead-letters", "unreadable", "reproduce", "--places", "posthaste.events/3/1207,t/0/1"];
    expect(await posthaste([...reproduce, "--dry-run"])).toMatchObject({
      code: 0,
      stdout: "matched\t2\nreproduced\t0\nrefused\t0\nrefusedPlaces\t\nnextCursor\t\n",
    });
    expect(command.control.requests).toHaveLength(1);
    expect(lastBody()).toEqual({ places: ["posthaste.events/3/1207", "t/0/1"], dryRun: true });
    scriptReproduce(0, 2);
    expect((await posthaste([...reproduce, "--yes"])).code).toBe(3);
    expect(command.control.requests).toHaveLength(2);
  });

  it("are produced again after a yes, call after call until all went", async () => {
    scriptReproduce(5, 2);
    const reproduce = ["dead-letters", "unreadable", "reproduce", "--topic", "posthaste.events"];
    const asked = await posthaste(reproduce);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("Produce 5 records again?")]);
    const { code, stdout } = await posthaste([...reproduce, "--yes"]);
    expect([code, stdout]).toEqual([0, "matched\t5\nreproduced\t5\nrefused\t0\nrefusedPlaces\t\n"]);
    expect(command.control.requests).toHaveLength(5);
    expect(lastBody()).toEqual({ topic: "posthaste.events", cursor: "behind-4" });
  });

  it("end with 6 when their topic refuses some, say which, and try those behind them too", async () => {
    const [one, other] = ["posthaste.events/3/1207", "posthaste.events/0/9"];
    const answers = [
      { matched: 5, reproduced: 0, refused: 0, refusedPlaces: [], nextCursor: null },
      { matched: 5, reproduced: 0, refused: 1, refusedPlaces: [one], nextCursor: "behind-1" },
      { matched: 4, reproduced: 2, refused: 1, refusedPlaces: [other], nextCursor: null },
    ];
    command.control.scriptRequest("POST /v1/unreadable/reproduce", () => ({ body: JSON.stringify(answers.shift()) }));
    const { code, stdout, stderr } = await posthaste(["dead-letters", "unreadable", "reproduce", "--yes"]);
    expect([code, stdout]).toEqual([6, `matched\t5\nreproduced\t2\nrefused\t2\nrefusedPlaces\t${one},${other}\n`]);
    expect(stderr).toBe(
      [
        "2 refused, larger than the max.message.bytes of their topic: raise that, then try again",
        "1 did not go: their topic is no more, or retention took them",
        "  posthaste dead-letters unreadable list --reproduced   shows them, and those that cannot be read still\n",
      ].join("\n"),
    );
  });
});
