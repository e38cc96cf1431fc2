/** All pages, for what is done with each of them. */
import { type FakeAnswers, problem } from "../fake-control.ts";
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

/** What has a picture beside the pages as they are found above; `shows`: a text of it. */
export const VIEWS: readonly View[] = [
  {
    ...{ name: "console-sign-in", path: "/", shows: ["Sign in to Posthaste"] },
    answers: { "GET /v1/session": problem(401, "send the header Authorization: Bearer <token>") },
  },
  { name: "console-connect-webhook", path: "/connect?kind=webhook", shows: ["Save and turn on"], answers: {} },
  {
    ...{ name: "console-deliveries-event", path: "/deliveries", pressed: "message-1", shows: ["Given up", "Timeline"] },
    answers: { ...deliveriesPage.live, ...eventPage.live },
  },
];

/** Of most examples, and of the pictures. */
export const MOMENT = "2026-11-22T15:04:30.000Z";
