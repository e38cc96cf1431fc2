import { expect, it } from "vitest";
import { unloggedEnds } from "./logged-share.ts";

const all = { logsFailures: true, loggedShare: 1 };
const failures = { logsFailures: true, loggedShare: 0 };
const some = { logsFailures: true, loggedShare: 0.125 };
const none = { logsFailures: false, loggedShare: 0 };

it.each([
  ["no process tells", [], /where delivery logs failures alone \(no delivery process tells\)$/],
  ["all of them log everything", [all, all], /^ \(delivery logs all that is delivered by now\)$/],
  ["one of them logs a share", [all, some], /^, or it was delivered: delivery logs 12\.5 % of what is delivered$/],
  ["one of them logs failures alone", [some, failures, all], /^, or it was delivered: delivery logs failures alone$/],
  ["one of them logs nothing", [all, none], /^, or it was delivered, or failed: delivery logs neither$/],
])("where %s, an event that left nothing may have ended so", (_, processes, expected) => {
  expect(unloggedEnds(processes)).toMatch(expected);
});
