/** The hints of a writing command on how to look at the result, or to undo it. */
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
    "  posthaste send dst_1 --sign-with next   tries it\n" +
      "  posthaste secret switch dst_1           signs by it from then on, once every receiver has it\n" +
      "  posthaste secret undo dst_1             forgets it\n",
  ],
  [
    ["secret", "switch", "dst_1"],
    "POST /v1/destinations/dst_1/secret/switch",
    { id: "dst_1" },
    "  posthaste secret undo dst_1     signs by the old one again\n" +
      "  posthaste secret retire dst_1   forgets the old one, once every receiver has the new one\n",
  ],
  [
    ["secret", "retire", "dst_1", "--yes"],
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
    ["deletions", "create", "--user-id", "user-7", "--yes"],
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
  [
    ["audiences", "create", "--name", "VIP", "--source-id", "src_1"],
    "POST /v1/audiences",
    { id: "aud_1" },
    "  posthaste audiences get aud_1      shows how many are in it\n" +
      "  posthaste audiences remove aud_1   undoes it\n",
  ],
  [
    ["audiences", "members", "aud_1", "--remove", "ada lovelace"],
    "PATCH /v1/audiences/aud_1/members",
    { added: 0, removed: 1, unchanged: 0 },
    "  posthaste audiences members aud_1 --user-id 'ada lovelace'   tells whether that one is in it now\n",
  ],
  [
    ["dead-letters", "unreadable", "reproduce", "--yes"],
    "POST /v1/unreadable/reproduce",
    { matched: 1, reproduced: 1 },
    "  posthaste dead-letters unreadable list --reproduced   shows them, and those that cannot be read still\n",
  ],
  [
    ["destinations", "remove", "dst_1", "--yes"],
    "DELETE /v1/destinations/dst_1",
    {},
    "removed destination dst_1\n  posthaste audit --target dst_1   shows what it was, and who removed it\n",
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

// Lines on their progress may come before.
it.each([
  [
    ["audiences", "sync", "aud_1"],
    "PUT /v1/audiences/aud_1/members",
    "audiences get aud_1   shows how many are in it, and",
  ],
  [
    ["traits", "put", "ltv", "--source-id", "src_1"],
    "PUT /v1/computed-traits/ltv",
    "traits list   shows how many users",
  ],
])("%j, which sends a file", async (words, call, said) => {
  const path = join(command.dir, "lines.ndjson");
  await writeFile(path, '"user-7"\n');
  command.control.script(call, { added: 1, removed: 0, unchanged: 0 });
  const { code, stderr } = await command.posthaste([...words, path]);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`  posthaste ${said}`)]);
});
