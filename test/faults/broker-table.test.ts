import { expect, it } from "vitest";
import { type BrokerRound, toBrokerLine, toBrokerTables } from "./broker-table.ts";
import type { Gap } from "./timeline.ts";

const none: Gap = { fromMs: 0, toMs: 0 };
const quiet: BrokerRound = {
  row: { role: "active controller", fault: "killed", forMs: 10_000 },
  roles: ["active controller"],
  noticedMs: null,
  replacedMs: 3_000,
  acknowledgements: none,
  deliveries: none,
  commits: none,
  refused: 0,
  acknowledged: 100,
  delivered: 100,
  lost: 0,
  repeated: 0,
  disordered: 0,
  retried: 0,
  regained: 0,
  bare: { acknowledgements: none, consumption: none, refused: 0, crashes: 0 },
};

/** The cells of a table's column, by its head, over all tables of the text. */
function column(text: string, head: string): readonly string[] {
  return text.split("\n\n").flatMap((table) => {
    const [heads = [], , ...lines] = table.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
    const at = heads.indexOf(head);
    return at < 0 ? [] : lines.map((line) => line[at] ?? "");
  });
}

it("tells the median and the largest of a row's rounds in seconds, and the sum of what was counted", () => {
  const rounds = [1_000, 9_040, 2_000].map((toMs) => ({ ...quiet, acknowledgements: { fromMs: 0, toMs }, refused: 5 }));
  const text = toBrokerTables(rounds);
  expect(column(text, "rounds")).toEqual(["3", "3", "3"]);
  expect(column(text, "without an acknowledgement")).toEqual(["2.0 (9.0)"]);
  expect(column(text, "refused")).toEqual(["15"]);
  expect(column(text, "noticed after")).toEqual(["–"]);
});

it("tells of bare kafkajs by the rounds that it ran in, and nothing where it ran in none", () => {
  const beside: BrokerRound = {
    ...quiet,
    bare: { acknowledgements: { fromMs: 0, toMs: 3_000 }, consumption: none, refused: 2, crashes: 1 },
  };
  const alone: BrokerRound = { ...quiet, bare: null };
  const other: BrokerRound = { ...alone, row: { ...quiet.row, fault: "hung" } };
  const text = toBrokerTables([beside, alone, other]);
  expect(column(text, "bare: an acknowledgement")).toEqual(["3.0", "–"]);
  expect(column(text, "bare: sends refused")).toEqual(["2", "–"]);
  expect(column(text, "bare: crashes")).toEqual(["1", "–"]);
});

it("counts the wait after the cluster did without the broker only in a gap that lasted until then", () => {
  const rounds: BrokerRound[] = [
    { ...quiet, acknowledgements: { fromMs: 100, toMs: 3_500 } },
    { ...quiet, row: { ...quiet.row, fault: "stopped" }, acknowledgements: { fromMs: 100, toMs: 400 } },
    { ...quiet, row: { ...quiet.row, fault: "hung" }, acknowledgements: { fromMs: 9_000, toMs: 9_900 } },
  ];
  expect(column(toBrokerTables(rounds), "acknowledged again")).toEqual(["0.5", "0.0", "0.0"]);
});

it("tells in how many rounds the brokers had each role", () => {
  const both: BrokerRound = { ...quiet, roles: ["leader of a deliveries partition", "active controller"] };
  expect(column(toBrokerTables([quiet, both]), "leader, coordinator, controller in")).toEqual(["1, 0, 2"]);
});

it("tells a round by itself in one line", () => {
  expect(toBrokerLine(quiet)).toMatch(/^\| active controller \| killed \| .*\|$/);
});
