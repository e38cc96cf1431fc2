/** All pages, for tests of each of them. */
import { exampleOf, type FakeAnswers, problem } from "../fake-control.ts";
import { deliveriesPage } from "./deliveries.ts";
import { eventPage } from "./event.ts";
import { CONFIGURATION_PAGES, EVENT_PAGES } from "./page-groups.ts";
import type { TestedPage } from "./tested-page.ts";

/** Every page of src/routes.tsx. */
export const PAGES: readonly TestedPage[] = [...EVENT_PAGES, ...CONFIGURATION_PAGES];

export interface View extends Pick<TestedPage, "path"> {
  readonly name: string;
  readonly answers: FakeAnswers;
  readonly shows: readonly string[];
  /** A text that is pressed for it. */
  readonly pressed?: string;
}

const LATEST = "GET /v1/deliveries/latest";
const status = exampleOf("GET /v1/status").body as { readonly readModel: object };
/** Control reads its topics for the first time. */
const STILL_READ: FakeAnswers = {
  [LATEST]: { body: Object.assign({}, exampleOf(LATEST).body, { complete: false }) },
  "GET /v1/status": {
    body: { ...status, readModel: { ...status.readModel, reading: { left: 456_000, of: 1_200_000 } } },
  },
};

/** Views with a picture beside the pages as they are found above; `shows`: a text of it. */
export const VIEWS: readonly View[] = [
  {
    ...{ name: "console-sign-in", path: "/", shows: ["Sign in to Posthaste"] },
    answers: { "GET /v1/session": problem(401, "send the header Authorization: Bearer <token>") },
  },
  {
    ...{ name: "console-deliveries-event", path: "/deliveries", pressed: "message-1", shows: ["Failed", "Timeline"] },
    answers: { ...deliveriesPage.live, ...eventPage.live },
  },
  {
    ...{ name: "console-deliveries-reading", path: "/deliveries", shows: ["62 % of 1,200,000 records"] },
    answers: { ...deliveriesPage.live, ...STILL_READ },
  },
];

/** Of most examples, and of the pictures. */
export const MOMENT = "2026-11-22T15:04:30.000Z";
