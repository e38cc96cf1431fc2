/** The lines that fit a text typed into the palette, and their order. */
import { describe, expect, it } from "vitest";
import { findSections, type PaletteSource } from "../src/frame/palette-lines.ts";

const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `${prefix}_${n}`, name: `Acme ${n}` }));
const COMMANDS = [{ id: "out", name: "Sign out", does: () => undefined }];
const UNKNOWN = { messageId: null, userId: null, event: null };
const found = (typed: string, source: Partial<PaletteSource> = {}) =>
  findSections({ typed, finds: UNKNOWN, destinations: [], sources: [], commands: COMMANDS, ...source });
const shape = (typed: string, source?: Partial<PaletteSource>) =>
  found(typed, source).map(({ name, lines }) => [name, lines.length]);
const hrefs = (typed: string, section: string, source?: Partial<PaletteSource>) =>
  found(typed, source)
    .find(({ name }) => name === section)
    ?.lines.map(({ does }) => (typeof does === "function" ? null : does.href));

describe("what is typed into the palette", () => {
  it("is looked for as a user and as an event's name, whatever else fits, spaces around it left out", () => {
    expect(hrefs(" Order Completed ", "Search")).toEqual([
      "/events?userId=Order+Completed",
      "/events?event=Order+Completed",
    ]);
    expect(found("Order Completed")[0]?.lines.map(({ name, code }) => `${name} ${code}`)).toEqual([
      "Events of the user Order Completed",
      "Events with the name Order Completed",
    ]);
    expect(hrefs("acme", "Search", { sources: named("src", 1) })).toEqual([
      "/events?userId=acme",
      "/events?event=acme",
    ]);
  });

  it("is looked for up to a thousand characters, and nothing is looked for where nothing is typed", () => {
    expect(hrefs("a".repeat(1000), "Search")).toHaveLength(2);
    expect(shape("a".repeat(1001))).toEqual([]);
    expect(shape(" ").map(([name]) => name)).toEqual(["Pages", "Commands"]);
    expect(shape(" ", { destinations: named("dst", 2), sources: named("src", 2) }).map(([name]) => name)).toEqual([
      ...["Pages", "Commands"],
    ]);
  });

  it("finds a page that the rail has not", () => {
    expect(hrefs("events", "Pages")).toEqual(["/events"]);
    expect(hrefs("activ", "Pages")).toEqual(["/activity"]);
  });

  it("stands first as an id where it has a digit, else behind what is named so, the searches last", () => {
    const source = { destinations: named("dst", 3), sources: named("src", 2) };
    expect(shape("acme", source)).toEqual([
      ["Destinations", 3],
      ["Sources", 2],
      ["Events", 1],
      ["Search", 2],
    ]);
    expect(shape("src_1", source)).toEqual([
      ["Events", 1],
      ["Sources", 1],
      ["Search", 2],
    ]);
    expect(hrefs("src_1", "Events", source)).toEqual(["/events/src_1"]);
    expect(hrefs("src_1", "Sources", source)).toEqual(["/sources/src_1"]);
  });

  it("is no message id, and no search, where control knows that there is none, and a known user stands first", () => {
    const ofUser = { finds: { messageId: false, userId: true, event: false } };
    expect(shape("user-7", ofUser)).toEqual([["Found", 1]]);
    expect(hrefs("user-7", "Found", ofUser)).toEqual(["/events?userId=user-7"]);
    const destinations = [{ id: "dst_1", name: "user-7 only" }];
    expect(shape("user-7", { ...ofUser, destinations }).map(([name]) => name)).toEqual(["Found", "Destinations"]);
    expect(shape("acme", { ...ofUser, sources: named("src", 1) }).map(([name]) => name)).toEqual(["Sources", "Found"]);
    expect(shape("m-1", { finds: { messageId: true, userId: false, event: null } })).toEqual([
      ["Events", 1],
      ["Search", 1],
    ]);
  });

  it("finds each word somewhere in a name, and eight of a kind at the most", () => {
    expect(shape("OUT sign")).toContainEqual(["Commands", 1]);
    expect(shape("sign in")).not.toContainEqual(["Commands", 1]);
    expect(shape("acme", { destinations: named("dst", 9) })[0]).toEqual(["Destinations", 8]);
    expect(hrefs("acme 2", "Destinations", { destinations: named("dst", 9) })).toEqual(["/destinations/dst_2"]);
  });

  it("keeps its address whole, whatever characters an id has", () => {
    expect(hrefs("a/b?c#1", "Events")).toEqual(["/events/a%2Fb%3Fc%231"]);
    expect(hrefs("a&b=c", "Search")).toEqual(["/events?userId=a%26b%3Dc", "/events?event=a%26b%3Dc"]);
  });

  it("is no message id where it has a space in it", () => {
    expect(shape("no such thing 7")).toEqual([["Search", 2]]);
  });
});
