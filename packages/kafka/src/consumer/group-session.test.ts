import { createRequire } from "node:module";
import type { Assigner, Broker, Cluster } from "kafkajs";
import { describe, expect, it, vi } from "vitest";
import { GroupSession } from "./group-session.ts";

interface Joined {
  readonly generationId: number;
  readonly memberId: string;
}

/** The coordinator as kafkajs uses it; its types omit the requests. */
interface Requests {
  joinGroup(request: object): Promise<Joined>;
  syncGroup(request: Joined): Promise<object>;
  heartbeat(request: object): Promise<object>;
  offsetCommit(request: object): Promise<object>;
  offsetFetch(request: object): Promise<object>;
}

/** As much of kafkajs's fetching as is used here. */
const createFetchManager: (parts: {
  readonly logger: object;
  readonly getNodeIds: () => readonly number[];
  readonly fetch: (nodeId: number) => Promise<readonly never[]>;
  readonly handler: () => Promise<void>;
  readonly concurrency: number;
}) => { start(): Promise<void>; stop(): Promise<void> } = createRequire(import.meta.url)(
  "kafkajs/src/consumer/fetchManager.js",
);
const QUIET: object = { namespace: () => QUIET, debug: () => {}, info: () => {} };

/** As kafkajs's own: it looks the coordinator up for the type, and goes on for `retriable`. */
const MOVED = { type: "NOT_COORDINATOR_FOR_GROUP", code: 16, retriable: true };
const closed = () => Object.assign(new Error("closed"), { name: "KafkaJSConnectionClosedError" });
const answers = (type: string) => Object.assign(new Error(type), { name: "KafkaJSProtocolError", type });

/** A session whose coordinator answers by `replies`, and the calls that kafkajs would see. */
function createGroup(replies: Partial<Requests> = {}) {
  const real: Requests = {
    joinGroup: () => Promise.resolve({ generationId: 1, memberId: "m" }),
    syncGroup: () => Promise.resolve({}),
    heartbeat: () => Promise.resolve({}),
    offsetCommit: () => Promise.resolve({}),
    offsetFetch: () => Promise.resolve({ responses: [] }),
    ...replies,
  };
  const find = vi.fn(() => Promise.resolve(real as unknown as Broker));
  const nodeIds = vi.fn(() => [1, 2, 3]);
  const cluster = { findGroupCoordinator: find, getNodeIds: nodeIds } as unknown as Cluster;
  const hooks = {
    beforeJoin: vi.fn(() => Promise.resolve()),
    onHeartbeat: vi.fn(),
    onOutOfRange: vi.fn(),
  };
  const session = new GroupSession("g", hooks, 5000);
  const assigner: Assigner = session.assigner({ cluster, groupId: "g", logger: undefined as never });
  const found = async () => (await cluster.findGroupCoordinator({ groupId: "g" })) as unknown as Requests;
  const join = async () => {
    const coordinator = await found();
    await coordinator.syncGroup(await coordinator.joinGroup({}));
    return coordinator;
  };
  return { session, hooks, find, cluster, nodeIds, assigner, found, join };
}

describe("a group's session", () => {
  it("awaits the drain before the coordinator of a JOIN is looked up (C4)", async () => {
    const { hooks, find, found } = createGroup();
    const drained = Promise.withResolvers<void>();
    hooks.beforeJoin.mockReturnValueOnce(drained.promise);
    const looking = found();
    await Promise.resolve();
    expect(find).not.toHaveBeenCalled();
    drained.resolve();
    await looking;
    expect(find).toHaveBeenCalledOnce();
  });

  it("passes a failed connection and a loading group on as a coordinator that moved (C10)", async () => {
    for (const failure of [closed(), answers("GROUP_LOAD_IN_PROGRESS"), answers("GROUP_COORDINATOR_NOT_AVAILABLE")]) {
      const fail = () => Promise.reject(failure);
      const { found } = createGroup({ joinGroup: fail, syncGroup: fail, heartbeat: fail, offsetFetch: fail });
      const coordinator = await found();
      await expect(coordinator.joinGroup({})).rejects.toMatchObject(MOVED);
      await expect(coordinator.syncGroup({ generationId: 1, memberId: "m" })).rejects.toMatchObject(MOVED);
      await expect(coordinator.heartbeat({})).rejects.toMatchObject(MOVED);
      await expect(coordinator.offsetFetch({})).rejects.toMatchObject(MOVED);
    }
  });

  it("passes a coordinator that is not found on as one that moved, other failures as they are (C10)", async () => {
    const { find, found } = createGroup({ heartbeat: () => Promise.reject(answers("UNKNOWN_MEMBER_ID")) });
    find.mockRejectedValueOnce(closed());
    await expect(found()).rejects.toMatchObject(MOVED);
    const coordinator = await found();
    await expect(coordinator.heartbeat({})).rejects.toMatchObject({ type: "UNKNOWN_MEMBER_ID" });
  });

  it("commits under the generation that it joined, and never sends a commit again (GS3)", async () => {
    const offsetCommit = vi.fn(() => Promise.reject(answers("ILLEGAL_GENERATION")));
    const { session, join } = createGroup({ offsetCommit });
    await join();
    const points = [
      { topic: "a", partition: 0, offset: 5, metadata: "x" },
      { topic: "b", partition: 1, offset: 6, metadata: "" },
      { topic: "a", partition: 2, offset: 7, metadata: "" },
    ];
    expect(await session.commit(points)).toMatchObject({ type: "ILLEGAL_GENERATION" });
    expect(offsetCommit.mock.calls).toEqual([
      [
        {
          groupId: "g",
          groupGenerationId: 1,
          memberId: "m",
          topics: [
            {
              topic: "a",
              partitions: [
                { partition: 0, offset: "5", metadata: "x" },
                { partition: 2, offset: "7", metadata: "" },
              ],
            },
            { topic: "b", partitions: [{ partition: 1, offset: "6", metadata: "" }] },
          ],
        },
      ],
    ]);
  });

  it("makes the heartbeat that waits ask for a rejoin when a commit is not accepted in time (C10)", async () => {
    vi.useFakeTimers();
    try {
      const never = () => new Promise<never>(() => undefined);
      const { session, join } = createGroup({ offsetCommit: never, heartbeat: never });
      const coordinator = await join();
      const heartbeat = coordinator.heartbeat({});
      const refused = expect(heartbeat).rejects.toMatchObject(MOVED);
      const refusal = session.commit([{ topic: "a", partition: 0, offset: 5, metadata: "" }]);
      await vi.advanceTimersByTimeAsync(5000);
      expect(await refusal).toMatchObject({ code: "deadline_exceeded" });
      await refused;
      await expect(coordinator.heartbeat({})).rejects.toMatchObject(MOVED);
    } finally {
      vi.useRealTimers();
    }
  });

  it("commits with the ids of its SYNC when that went to the coordinator of another JOIN", async () => {
    const offsetCommit = vi.fn((_: object) => Promise.resolve({}));
    const { session, found } = createGroup({ offsetCommit });
    const [first, second] = [await found(), await found()];
    const joined = await first.joinGroup({});
    // kafkajs keeps one coordinator, the last that was found, also for a JOIN that began before.
    await second.syncGroup(joined);
    expect(await session.commit([{ topic: "a", partition: 0, offset: 5, metadata: "" }])).toBeNull();
    expect(offsetCommit.mock.calls[0]?.[0]).toMatchObject({ groupGenerationId: 1, memberId: "m" });
  });

  it("asks for a rejoin when commits are refused again and again while heartbeats succeed (GS4)", async () => {
    let refuses = true;
    const { session, join } = createGroup({
      offsetCommit: () => (refuses ? Promise.reject(answers("ILLEGAL_GENERATION")) : Promise.resolve({})),
    });
    const coordinator = await join();
    const commit = () => session.commit([{ topic: "a", partition: 0, offset: 5, metadata: "" }]);
    for (let refusals = 1; refusals < 20; refusals += 1) await commit();
    await coordinator.heartbeat({});
    refuses = false;
    await commit();
    refuses = true;
    await commit();
    await coordinator.heartbeat({});
    for (let refusals = 2; refusals <= 20; refusals += 1) await commit();
    await expect(coordinator.heartbeat({})).rejects.toMatchObject(MOVED);
    refuses = false;
    const after = await join();
    await after.heartbeat({});
  });

  it("heartbeats as usual again when the group was joined anew", async () => {
    const { session, join, hooks } = createGroup();
    const before = await join();
    session.requestRejoin();
    await expect(before.heartbeat({})).rejects.toMatchObject(MOVED);
    const after = await join();
    await after.heartbeat({});
    expect(hooks.onHeartbeat).toHaveBeenCalledOnce();
  });

  it("gives kafkajs the brokers that it knew last when it has lost all, or it would crash (GS5)", () => {
    const { cluster, nodeIds } = createGroup();
    nodeIds.mockReturnValue([]);
    expect(cluster.getNodeIds()).toEqual([]);
    nodeIds.mockReturnValue([1, 2]);
    expect(cluster.getNodeIds()).toEqual([1, 2]);
    nodeIds.mockReturnValue([]);
    expect(cluster.getNodeIds()).toEqual([1, 2]);
    nodeIds.mockReturnValue([3]);
    expect(cluster.getNodeIds()).toEqual([3]);
  });

  it("lets kafkajs begin no fetch once it ended, or fetches would follow one another for ever (GS6)", async () => {
    const { session, cluster, nodeIds } = createGroup();
    nodeIds.mockReturnValue([1, 2]);
    const longPoll = Promise.withResolvers<void>();
    let isRunning = true;
    let idleFetches = 0;
    const manager = createFetchManager({
      logger: QUIET,
      getNodeIds: () => cluster.getNodeIds(),
      // As kafkajs's runner: at once and with nothing when it was stopped.
      fetch: async (nodeId) => {
        if (!isRunning) {
          idleFetches += 1;
          if (idleFetches >= 100) await new Promise(() => {});
        } else if (nodeId === 2) await longPoll.promise;
        else await Promise.resolve().then(() => nodeIds.mockReturnValue([1, 2, 3]));
        return [];
      },
      handler: async () => {},
      concurrency: 1,
    });
    const fetching = expect(manager.start()).rejects.toThrow("has ended");
    // The brokers have changed, and kafkajs waits for the last fetch before it begins anew.
    await new Promise((resolve) => setImmediate(resolve));
    session.end();
    isRunning = false;
    const stopped = manager.stop();
    longPoll.resolve();
    await stopped;
    await new Promise((resolve) => setImmediate(resolve));
    expect(idleFetches).toBe(0);
    await fetching;
  });

  it("is continuous while its member id stays and generations follow one another", async () => {
    const joins = [
      { generationId: 4, memberId: "m" },
      { generationId: 5, memberId: "m" },
      { generationId: 5, memberId: "m" },
      { generationId: 7, memberId: "m" },
      { generationId: 8, memberId: "n" },
    ];
    const said: boolean[] = [];
    const { session, join } = createGroup({
      joinGroup: () => Promise.resolve(joins[said.length] ?? joins[0]) as never,
    });
    expect(session.isContinuous).toBe(false);
    for (const _ of joins) {
      await join();
      said.push(session.isContinuous);
    }
    expect(said).toEqual([false, true, true, false, false]);
  });

  it("does not let kafkajs reset a partition whose offset is out of range: it says which (C7)", async () => {
    const { hooks, join } = createGroup();
    const coordinator = await join();
    const reset = { topics: [{ topic: "a", partitions: [{ partition: 3, offset: "-2" }] }] };
    await expect(coordinator.offsetCommit(reset)).rejects.toThrow("not in the log");
    expect(hooks.onOutOfRange.mock.calls).toEqual([["a", 3]]);
  });

  it("has neither commits nor places before it is joined", async () => {
    const { session } = createGroup();
    expect(await session.commit([{ topic: "a", partition: 0, offset: 5, metadata: "" }])).toMatchObject(MOVED);
    await expect(session.committed([{ topic: "a", partition: 0 }])).rejects.toMatchObject(MOVED);
  });

  it("reads what the group committed, with what the commit said beside the offset", async () => {
    const offsetFetch = vi.fn((_: object) =>
      Promise.resolve({
        responses: [
          {
            topic: "a",
            partitions: [
              { partition: 0, offset: "5", metadata: "x" },
              { partition: 2, offset: "-1", metadata: null },
            ],
          },
          { topic: "b", partitions: [{ partition: 1, offset: "9" }] },
        ],
      }),
    );
    const { session, join } = createGroup({ offsetFetch });
    await join();
    const places = await session.committed([
      { topic: "a", partition: 0 },
      { topic: "b", partition: 1 },
      { topic: "a", partition: 2 },
    ]);
    expect(places).toEqual([
      { topic: "a", partition: 0, offset: 5, metadata: "x" },
      { topic: "a", partition: 2, offset: -1, metadata: null },
      { topic: "b", partition: 1, offset: 9, metadata: null },
    ]);
    expect(offsetFetch.mock.calls).toEqual([
      [
        {
          groupId: "g",
          topics: [
            {
              topic: "a",
              partitions: [
                { partition: 0, offset: "" },
                { partition: 2, offset: "" },
              ],
            },
            { topic: "b", partitions: [{ partition: 1, offset: "" }] },
          ],
        },
      ],
    ]);
  });

  it("asks for a rejoin when a commit or the places fail by the connection, not by the group (C10)", async () => {
    for (const [failure, asks] of [
      [closed(), true],
      [answers("NOT_COORDINATOR_FOR_GROUP"), true],
      [answers("ILLEGAL_GENERATION"), false],
    ] as const) {
      const fail = () => Promise.reject(failure);
      for (const by of ["commit", "places"]) {
        const { session, join, hooks } = createGroup({ offsetCommit: fail, offsetFetch: fail });
        const coordinator = await join();
        if (by === "commit") await session.commit([{ topic: "a", partition: 0, offset: 5, metadata: "" }]);
        else await expect(session.committed([{ topic: "a", partition: 0 }])).rejects.toBe(failure);
        if (asks) await expect(coordinator.heartbeat({})).rejects.toMatchObject(MOVED);
        else await coordinator.heartbeat({});
        expect(hooks.onHeartbeat).toHaveBeenCalledTimes(asks ? 0 : 1);
      }
    }
  });

  it("asks for a rejoin when the places are not read in time (C10)", async () => {
    vi.useFakeTimers();
    try {
      const { session, join } = createGroup({ offsetFetch: () => new Promise(() => undefined) });
      const coordinator = await join();
      const refused = expect(session.committed([{ topic: "a", partition: 0 }])).rejects.toMatchObject({
        code: "deadline_exceeded",
      });
      await vi.advanceTimersByTimeAsync(5000);
      await refused;
      await expect(coordinator.heartbeat({})).rejects.toMatchObject(MOVED);
    } finally {
      vi.useRealTimers();
    }
  });

  it("asks for no rejoin when a request of an earlier membership fails", async () => {
    const [commit, places] = [Promise.withResolvers<never>(), Promise.withResolvers<never>()];
    const { session, join } = createGroup({ offsetCommit: () => commit.promise, offsetFetch: () => places.promise });
    await join();
    const refusal = session.commit([{ topic: "a", partition: 0, offset: 5, metadata: "" }]);
    const located = expect(session.committed([{ topic: "a", partition: 0 }])).rejects.toThrow("closed");
    const after = await join();
    commit.reject(closed());
    places.reject(closed());
    await Promise.all([refusal, located]);
    await after.heartbeat({});
  });

  it("drains once before a JOIN, though kafkajs makes its assigner anew at each", async () => {
    const { session, cluster, hooks, found } = createGroup();
    session.assigner({ cluster, groupId: "g", logger: undefined as never });
    await found();
    expect(hooks.beforeJoin).toHaveBeenCalledOnce();
  });

  it("passes every answer on as it came", async () => {
    const { found } = createGroup({
      joinGroup: () => Promise.resolve({ generationId: 9, memberId: "m9" }),
      syncGroup: () => Promise.resolve({ memberAssignment: "a" }),
      heartbeat: () => Promise.resolve({ errorCode: 0 }),
      offsetFetch: () => Promise.resolve({ responses: ["r"] }),
    });
    const coordinator = await found();
    expect(await coordinator.joinGroup({})).toEqual({ generationId: 9, memberId: "m9" });
    expect(await coordinator.syncGroup({ generationId: 9, memberId: "m9" })).toEqual({ memberAssignment: "a" });
    expect(await coordinator.heartbeat({})).toEqual({ errorCode: 0 });
    expect(await coordinator.offsetFetch({})).toEqual({ responses: ["r"] });
  });
});
