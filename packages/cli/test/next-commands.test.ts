/** What a command that wrote something says of looking at it, or of undoing it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useCommand } from "./harness.ts";

const command = useCommand();

const SECRET = ["dst_1", "--shared-secret-file"];
const REPLAY = { id: "rpl_1", state: "paused", replayed: 5, matched: 9 };

it.each<readonly [words: readonly string[], call: string, answer: object, said: string]>([
  [
    ["sources", "create", "--name", "Shop", "--kind", "web"],
    "POST /v1/sources",
    { id: "src_1" },
    "  posthaste sources sample src_1   sends a call as it would\n  posthaste sources remove src_1   undoes it\n",
  ],
  [
    ["sources", "update", "src_1", "--name", "Shop"],
    "PATCH /v1/sources/src_1",
    { id: "src_1" },
    "  posthaste sources calls src_1   shows what it sends\n",
  ],
  [
    ["sources", "update", "src_1", "--no-enabled"],
    "PATCH /v1/sources/src_1",
    { id: "src_1" },
    "  posthaste sources update src_1 --enabled   has it take calls again\n",
  ],
  [
    ["sources", "rotate-write-key", "src_1"],
    "POST /v1/sources/src_1/write-key",
    { id: "src_1" },
    "  posthaste sources get src_1   shows until when the old key is taken\n",
  ],
  [
    ["destinations", "create", "--name", "Billing", "--urls", "https://a.example"],
    "POST /v1/destinations",
    { id: "dst_1" },
    "  posthaste send dst_1                  sends it a test event\n" +
      "  posthaste destinations remove dst_1   undoes it\n",
  ],
  [
    ["destinations", "update", "dst_1", "--name", "Billing"],
    "PATCH /v1/destinations/dst_1",
    { id: "dst_1" },
    "  posthaste send dst_1   sends it a test event\n",
  ],
  [
    ["destinations", "update", "dst_1", "--no-enabled"],
    "PATCH /v1/destinations/dst_1",
    { id: "dst_1" },
    "  posthaste destinations update dst_1 --enabled   sends it events again\n",
  ],
  [
    ["secret", "next", ...SECRET, "FILE"],
    "POST /v1/destinations/dst_1/secret/next",
    { id: "dst_1" },
    "  posthaste send dst_1 --sign-with next   tries it\n  posthaste secret undo dst_1             forgets it\n",
  ],
  [
    ["secret", "switch", "dst_1"],
    "POST /v1/destinations/dst_1/secret/switch",
    { id: "dst_1" },
    "  posthaste secret undo dst_1     signs by the old one again\n" +
      "  posthaste secret retire dst_1   forgets the old one, once every receiver has the new one\n",
  ],
  [
    ["secret", "retire", "dst_1"],
    "POST /v1/destinations/dst_1/secret/retire",
    { id: "dst_1" },
    "  posthaste send dst_1   sends a test event, signed as events are now\n",
  ],
  [
    ["suppressions", "remove", "--user-id", "it's user 7"],
    "DELETE /v1/suppressions",
    { userId: "it's user 7", ended: ["src_1"] },
    "  posthaste suppressions get --user-id 'it'\\''s user 7'   shows what is suppressed still\n",
  ],
  [
    ["deletions", "create", "--user-id", "user-7"],
    "POST /v1/deletions",
    { id: "del_1", notifications: 1 },
    "  posthaste deletions get del_1   shows how far it is\n",
  ],
  [
    ["replays", "pause", "rpl_1"],
    "POST /v1/replays/rpl_1/pause",
    REPLAY,
    "rpl_1 is paused: 5 of 9 went\n  posthaste replays resume rpl_1   goes on with it\n",
  ],
])("%j", async (words, call, answer, said) => {
  const path = join(command.dir, "secret.txt");
  await writeFile(path, "a secret");
  command.control.script(call, answer);
  const { code, stderr } = await command.posthaste(words.map((word) => (word === "FILE" ? path : word)));
  expect([code, stderr]).toEqual([0, said]);
  command.control.script(call, answer);
  const quiet = await command.posthaste([...words.map((word) => (word === "FILE" ? path : word)), "--quiet"]);
  expect([quiet.code, quiet.stderr]).toEqual([0, ""]);
});
