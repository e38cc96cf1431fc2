/**
 * Every page of the console that is tested in its states, in two groups, each of which has a test file of its own: two
 * workers share the slowest tests of a browser.
 */
import { accessPage, activityPage } from "./access.ts";
import { audiencePage, audiencesPage } from "./audiences.ts";
import { destinationPage, destinationsPage, sourcePage, sourcesPage } from "./configuration.ts";
import { connectPage, firstEventPage, testReceiversPage } from "./connect.ts";
import { deletionPage, deletionsPage } from "./deletions.ts";
import { deadLettersListPage, deadLettersPage, deliveriesPage } from "./deliveries.ts";
import { eventPage, eventsPage } from "./event.ts";
import { overviewPage } from "./overview.ts";
import { replayPage, reviewPage } from "./replay.ts";
import type { TestedPage } from "./tested-page.ts";

/** Events, and their verdicts. */
export const EVENT_PAGES: readonly TestedPage[] = [
  overviewPage,
  firstEventPage,
  eventsPage,
  eventPage,
  deliveriesPage,
  deadLettersPage,
  deadLettersListPage,
  reviewPage,
  replayPage,
  deletionsPage,
  deletionPage,
];

/** An operator's configuration, and tokens. */
export const CONFIGURATION_PAGES: readonly TestedPage[] = [
  connectPage,
  testReceiversPage,
  sourcesPage,
  sourcePage,
  destinationsPage,
  destinationPage,
  audiencesPage,
  audiencePage,
  activityPage,
  accessPage,
];
