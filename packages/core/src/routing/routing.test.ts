import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  integrationOf,
  isEnabledByIntegrations,
  type RoutableDestination,
  RoutingTable,
  routeEvent,
} from "./routing.ts";

const destination = (id: string, sourceIds: readonly string[], enabled = true): RoutableDestination => ({
  id,
  sourceIds,
  enabled,
  payload: "documented",
});

describe("integrations", () => {
  it.each<[Record<string, boolean>, boolean]>([
    [{}, true],
    [{ All: true }, true],
    [{ All: false }, false],
    [{ All: false, Webhooks: true }, true],
    [{ All: true, Webhooks: false }, false],
    [{ Webhooks: false }, false],
    [{ Mail: false }, true],
    [{ All: false, webhooks: true }, false],
    [{ all: false }, false],
    [{ all: false, Webhooks: true }, true],
    [{ all: false, All: true }, true],
    [{ ALL: false }, true],
  ])("%j switches Webhooks on: %s", (integrations, enabled) => {
    expect(isEnabledByIntegrations(integrations, "Webhooks")).toBe(enabled);
  });

  it.each<[Record<string, boolean>, string | null]>([
    [{}, null],
    [{ Mail: false }, null],
    [{ all: false, All: false, Webhooks: false }, "Webhooks"],
    [{ all: false, All: false }, "All"],
    [{ all: false }, "all"],
  ])("%j decides by its entry %j", (integrations, entry) => {
    expect(integrationOf(integrations, "Webhooks")).toBe(entry);
  });

  it("do not read what an object inherits", () => {
    expect(integrationOf(Object.create({ All: false }), "Webhooks")).toBeNull();
    expect(isEnabledByIntegrations(Object.create({ All: false }), "Webhooks")).toBe(true);
  });
});

describe("routing table", () => {
  const ids = fc.constantFrom("d1", "d2", "d3", "d10");
  const sources = fc.array(fc.constantFrom("s1", "s2", "s3"), { maxLength: 4 });
  const change = fc.record({ id: ids, sourceIds: sources, enabled: fc.boolean(), removed: fc.boolean() });

  it("RT2: lists exactly a source's enabled destinations, and apart the others, ids ascending, after changes", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const table = new RoutingTable();
        const model = new Map<string, RoutableDestination>();
        for (const { id, sourceIds, enabled, removed } of changes) {
          if (removed) model.delete(id);
          else model.set(id, destination(id, sourceIds, enabled));
          table.set(id, model.get(id));
        }
        for (const source of ["s1", "s2", "s3"]) {
          const expected = [...model.values()]
            .filter((entry) => entry.enabled && entry.sourceIds.includes(source))
            .map((entry) => entry.id)
            .sort();
          expect(table.destinationsOf(source).map((entry) => entry.id)).toEqual(expected);
          const off = [...model.values()].filter((entry) => !entry.enabled && entry.sourceIds.includes(source));
          expect(table.switchedOff(source)).toEqual(off.map((entry) => entry.id).sort());
        }
      }),
    );
  });

  it("RT1: answers the same list until a destination of the source changes", () => {
    const table = new RoutingTable();
    table.set("d1", destination("d1", ["s1"]));
    const list = table.destinationsOf("s1");
    table.set("d2", destination("d2", ["s2"]));
    expect(table.destinationsOf("s1")).toBe(list);
  });
});

describe("routing an event", () => {
  const table = new RoutingTable();
  table.set("b", destination("b", ["s1"]));
  table.set("a", destination("a", ["s1"]));
  table.set("off", destination("off", ["s1", "s2"], false));

  it("R2: names the destinations in order of id", () => {
    const routed = routeEvent({ sourceId: "s1", integrations: {} }, table);
    expect(routed).toEqual([destination("a", ["s1"]), destination("b", ["s1"])]);
  });

  it("says why there is none", () => {
    expect(routeEvent({ sourceId: "s2", integrations: {} }, table)).toBe("destination_off");
    expect(routeEvent({ sourceId: "s3", integrations: {} }, table)).toBe("no_destination");
    expect(routeEvent({ sourceId: "s1", integrations: { All: false } }, table)).toBe("integrations");
  });
});
