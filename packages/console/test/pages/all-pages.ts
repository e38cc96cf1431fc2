/** All pages, for what is done with each of them. */
import { type FakeAnswers, problem } from "../fake-control.ts";
import { CONFIGURATION_PAGES, EVENT_PAGES } from "./page-groups.ts";
import type { TestedPage } from "./tested-page.ts";

/** Every page of src/routes.tsx. */
export const PAGES: readonly TestedPage[] = [...EVENT_PAGES, ...CONFIGURATION_PAGES];

export interface View extends Pick<TestedPage, "path"> {
  readonly name: string;
  readonly answers: FakeAnswers;
  readonly shows: readonly string[];
}

/** What has a picture beside the pages as they are found above; `shows`: a text of it. */
export const VIEWS: readonly View[] = [
  {
    ...{ name: "console-sign-in", path: "/", shows: ["Sign in to Posthaste"] },
    answers: { "GET /v1/session": problem(401, "send the header Authorization: Bearer <token>") },
  },
  { name: "console-connect-webhook", path: "/connect?kind=webhook", shows: ["Save and turn on"], answers: {} },
];

/** Of most examples, and of the pictures. */
export const MOMENT = "2026-11-22T15:04:30.000Z";
