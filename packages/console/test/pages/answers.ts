/**
 * Ten questions that each page is judged by: how it answers them where everything of the examples stands on it.
 *
 * A text is one that stands on the page then, in its frame included; `none` says why a page need not answer.
 */
export const QUESTIONS = {
  about: "What is this?",
  wrong: "What is wrong?",
  where: "Where?",
  since: "Since when?",
  much: "How much of it?",
  why: "Why?",
  itself: "What comes next by itself?",
  mine: "What can be done here?",
  fresh: "How new and how whole is it?",
  terminal: "How is the same had at the terminal?",
} as const;

type Answer = string | { readonly none: string };
export type Answers = Readonly<Record<keyof typeof QUESTIONS, Answer>>;

const NOT_LIVE = { none: "nothing of it changes but by hand" };
const IN_HELP = { none: "posthaste --help names its commands; the empty page has the line" };
/** Of pages of settings, or of deeds. */
const NOTHING_FAILS = { none: "nothing fails here: Overview and the destination's page say what does" };
const ONE_AT_A_TIME = { none: "it is one form for one person" };
const SETTLED = { wrong: NOTHING_FAILS, why: NOTHING_FAILS, itself: NOT_LIVE };

/** Of an event, on its page and over a list. */
const GIVEN_UP: Answers = {
  ...{ about: "message-7", wrong: "Failed", where: "Billing", since: "11:12:07.113" },
  ...{ much: '"Billing" answered 503 nine times', why: "answered 503 until its retry window ended" },
  ...{
    itself: { none: "it failed for good: nothing comes by itself" },
    mine: "Send again",
    fresh: "as of 15:12:10",
  },
  terminal: "posthaste dead-letters replay --message-ids message-7",
};

const DELIVERIES: Answers = {
  ...{ about: "Deliveries", wrong: "failed", where: "Billing", since: "1 m ago" },
  ...{ much: "3 attempts", why: "503", itself: { none: "it failed for good; one that waits says until when" } },
  ...{ mine: "Send all matching again", fresh: "as of 16:04:19", terminal: IN_HELP },
};

/** By the page's route, or by the name of a view that has a picture of its own. */
export const ANSWERS: Readonly<Record<string, Answers>> = {
  "/overview": {
    ...{ about: "Overview", wrong: "1 needs you", where: "Billing", since: "since 15:58:02", much: "waiting 3" },
    ...{ why: "paused by failures, 503", itself: "next probe 16:04:50", mine: "Review", fresh: "as of 16:04:21" },
    terminal: IN_HELP,
  },
  "console-sign-in": {
    ...{ about: "Sign in to Posthaste", wrong: { none: "what is wrong is said at the field, when a token was" } },
    ...{ where: ONE_AT_A_TIME, since: ONE_AT_A_TIME, much: ONE_AT_A_TIME, fresh: ONE_AT_A_TIME },
    ...{
      why: { none: "who has no session stands here" },
      itself: NOT_LIVE,
      mine: "Sign in",
      terminal: "posthaste open",
    },
  },
  "/connect": {
    ...{ about: "Connect a webhook", wrong: { none: "what is wrong is said at the field, when it was tried" } },
    ...{ where: "2 Where to", since: ONE_AT_A_TIME, much: "A made-up event", why: "Nothing to send to yet?" },
    ...{ itself: NOT_LIVE, mine: "Save and turn on", fresh: "as the form stands", terminal: IN_HELP },
  },
  "/connect/$destinationId": {
    ...{ about: "Billing is connected", wrong: "Waiting for the first event", where: "Billing", since: NOT_LIVE },
    ...{ much: { none: "it is about one event" }, why: "Send a sample, or send from your own program" },
    ...{ itself: { none: "somebody sends: then the event is shown on its way" }, mine: "Send a sample event" },
    ...{ fresh: "live", terminal: "curl -u" },
  },
  "/test-receivers": {
    ...SETTLED,
    ...{ about: "Test receivers", where: "/receive/rcv_4k2v8m1n0p3q5r7s", since: "16:04:22.113", much: "13 B" },
    ...{ wrong: "signature not checked", itself: { none: "requests come as somebody sends them" } },
    ...{ mine: "It answers with", fresh: "live", terminal: IN_HELP },
  },
  "/events": {
    ...{ about: "Events", wrong: "Delivered", where: "Web shop", since: "4 h ago", much: "1 try" },
    ...{ why: 'Delivered to "Billing" at', itself: { none: "what waits says until when, in its sentence" } },
    ...{ mine: "Add filter", fresh: "live", terminal: "posthaste events find --user-id user-7" },
  },
  "/events/$messageId": GIVEN_UP,
  "console-deliveries-event": { ...GIVEN_UP, about: "message-1" },
  "/deliveries": DELIVERIES,
  "console-deliveries-reading": { ...DELIVERIES, fresh: "control is still reading, 62 % of 1,200,000 records" },
  "/dead-letters": {
    ...{ about: "Dead letters", wrong: "window expired", where: "Billing", since: "1 m ago" },
    ...{
      much: "1 dead letter can be sent again",
      why: "the receiver did not take it before its retries ended",
      mine: "Review and replay",
    },
    ...{ itself: { none: "dead letters are sent by hand alone" }, fresh: "as of 16:04:21", terminal: IN_HELP },
  },
  "/dead-letters/letters": {
    ...{
      about: "Dead letters",
      wrong: "window expired",
      where: "Billing",
      since: "1 m ago",
      why: "503",
    },
    ...{ much: "3 attempts", itself: { none: "dead letters are sent by hand alone" }, mine: "Review and replay" },
    ...{ fresh: "control is still reading: entries may be missing", terminal: "posthaste dead-letters list --reason" },
  },
  "/replay": {
    ...{
      about: "Replay",
      wrong: "12,345 dead letters",
      where: "Billing",
      since: "died at 16:03:19",
      much: "12,102",
    },
    ...{ why: "503", itself: "12,345 are sent; failures after", mine: "Replay 12,345" },
    ...{ fresh: "The count holds until 17:04:24.145", terminal: IN_HELP },
  },
  "/replays/$replayId": {
    ...{ about: "Replay to Billing", wrong: "Failed again 22", where: "Billing", since: "started 16:04:25.117" },
    ...{ much: "7,812 of 12,345 sent", why: "Its deliveries", itself: "running", mine: "Pause", fresh: "live" },
    terminal: "posthaste replays watch",
  },
  "/audiences": {
    ...SETTLED,
    ...{ about: "Audiences", where: "VIP customers", since: "1 h ago", much: "41,515", mine: "New audience" },
    ...{ fresh: "as of 16:04:24", terminal: IN_HELP },
  },
  "/audiences/$audienceId": {
    ...SETTLED,
    ...{ about: "VIP customers", where: "Web shop", since: "1 h ago", much: "40,311 unchanged" },
    ...{ itself: "Identifies waiting, of all audiences", mine: "Remove the audience", fresh: "live" },
    terminal: "posthaste audiences sync",
  },
  "/deletions": {
    ...{ about: "Deletions", wrong: "Suppressed", where: "ticket-4711", since: "6 s ago", why: NOTHING_FAILS },
    ...{ much: "8: 8 sent", itself: "sent", mine: "Ask for a deletion", fresh: "as of 16:04:23" },
    terminal: IN_HELP,
  },
  "/deletions/$deletionId": {
    ...{ about: "Deletion ticket-4711", wrong: "nobody is told", where: "Web shop", much: "12 sources" },
    ...{ since: "asked for 16:04:23.031", why: "it had no destination that was on", itself: "retrying" },
    ...{ mine: "All deletions", fresh: "control is still reading", terminal: "posthaste deletions get ticket-4711" },
  },
  "/activity": {
    ...SETTLED,
    ...{ about: "Activity", where: "Web shop", since: "3 s ago", much: "Web shop → Shop" },
    ...{ mine: "Add filter", fresh: "as of 16:04:26", terminal: IN_HELP },
  },
  "/access": {
    ...SETTLED,
    ...{ about: "Access", where: "dashboard", since: "last used 16:01:20", much: "may read", mine: "Revoke" },
    ...{ fresh: "as of 16:04:23", terminal: IN_HELP },
  },
  "/sources": {
    ...SETTLED,
    ...{ about: "Sources", where: "Web shop", since: "8 s ago", much: { none: "the page of one counts" } },
    ...{ mine: "New source", fresh: "as of 16:04:19", terminal: IN_HELP },
  },
  "/sources/$sourceId": {
    ...{ about: "Web shop", wrong: "rejected: missing_user", where: "Calls", since: "In the last hour", much: "× 41" },
    ...{ why: "Give each call a userId or an anonymousId", itself: "now 1.2/s", mine: "Rotate" },
    ...{ fresh: "as of 16:04:21" },
    terminal: "Send from your own program",
  },
  "/destinations": {
    ...{
      about: "Destinations",
      wrong: "paused by failures",
      where: "Billing",
      since: { none: "its own page says it" },
    },
    ...{
      much: "12",
      why: "94.4 %",
      itself: { none: "its own page says when it is tried again" },
      mine: "Connect a webhook",
    },
    ...{ fresh: "live", terminal: IN_HELP },
  },
  "/destinations/$destinationId": {
    ...{
      about: "Billing",
      wrong: "paused by failures",
      where: "https://billing.example/hook",
      since: "since 15:58:02",
    },
    ...{ much: "503 × 25, timeout × 3", why: "503 from https://billing.example/hook", itself: "gives up 19:58:02" },
    ...{ mine: "Replay 12…", fresh: "as of 16:04:21", terminal: IN_HELP },
  },
};

/** Questions of a page that its content does not answer, each with the text that is missing. */
export function unanswered(route: string, shown: string): readonly string[] {
  const answers = ANSWERS[route];
  if (answers === undefined) return [`nobody asked the questions of ${route}`];
  const text = shown.replace(/\s+/g, " ");
  return Object.entries(answers).flatMap(([question, answer]) =>
    typeof answer !== "string" || text.includes(answer) ? [] : [`${question}: ${answer}`],
  );
}
