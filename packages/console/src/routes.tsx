/** Every page by its address. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { LISTED_FILTERS } from "./dead-letters/dead-letter-filter.ts";
import { REPLAY_FILTERS } from "./dead-letters/replay-filter.ts";
import { NoPage } from "./frame/no-page.tsx";
import { FIRST_PLACE } from "./frame/places.ts";
import { filterFrom, searchOf } from "./listing/filter.ts";
import { MADE_TOKEN } from "./pages/access/made-token.ts";
import { ACTIVITY_FILTERS } from "./pages/activity/activity-filter.ts";
import { DELIVERY_FILTERS } from "./pages/deliveries/delivery-filter.ts";
import { TAB_FIELD } from "./pages/destinations/destination-tab.ts";
import { DESTINATIONS_FILTERS } from "./pages/destinations/destinations-filter.ts";
import { EVENT_FILTERS } from "./pages/events/event-filter.ts";
import { OverviewPage } from "./pages/overview/overview-page.tsx";
import { Root } from "./root.tsx";

const root = createRootRoute({ component: Root, notFoundComponent: NoPage });

const first = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: FIRST_PLACE, replace: true });
  },
});

const overview = createRoute({
  getParentRoute: () => root,
  path: "/overview",
  // The page that most people come to: with the other files that every page loads, not behind them.
  component: OverviewPage,
});

const connect = createRoute({
  getParentRoute: () => root,
  path: "/connect",
  validateSearch: (search) => filterFrom(search, [{ key: "kind", label: "Kind" }]),
  component: lazyRouteComponent(() => import("./pages/connect/connect-page.tsx"), "ConnectPage"),
});

const firstEvent = createRoute({
  getParentRoute: () => root,
  path: "/connect/$destinationId",
  component: lazyRouteComponent(() => import("./pages/connect/first-event-page.tsx"), "FirstEventPage"),
});

const testReceivers = createRoute({
  getParentRoute: () => root,
  path: "/test-receivers",
  validateSearch: (search) => filterFrom(search, [{ key: "id", label: "Id" }]),
  component: lazyRouteComponent(() => import("./pages/test-receivers/test-receivers-page.tsx"), "TestReceiversPage"),
});

const events = createRoute({
  getParentRoute: () => root,
  path: "/events",
  validateSearch: (search) => filterFrom(search, EVENT_FILTERS),
  component: lazyRouteComponent(() => import("./pages/events/events-page.tsx"), "EventsPage"),
});

const event = createRoute({
  getParentRoute: () => root,
  path: "/events/$messageId",
  component: lazyRouteComponent(() => import("./pages/event/event-page.tsx"), "EventPage"),
});

const deliveries = createRoute({
  getParentRoute: () => root,
  path: "/deliveries",
  validateSearch: (search) => filterFrom(search, DELIVERY_FILTERS),
  component: lazyRouteComponent(() => import("./pages/deliveries/deliveries-page.tsx"), "DeliveriesPage"),
});

const deadLetters = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters",
  component: lazyRouteComponent(() => import("./pages/dead-letters/dead-letters-page.tsx"), "DeadLettersPage"),
});

const deadLettersList = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters/letters",
  validateSearch: (search) => filterFrom(search, LISTED_FILTERS),
  component: lazyRouteComponent(() => import("./pages/dead-letters/dead-letters-list-page.tsx"), "DeadLettersListPage"),
});

const activity = createRoute({
  getParentRoute: () => root,
  path: "/activity",
  validateSearch: (search) => filterFrom(search, ACTIVITY_FILTERS),
  component: lazyRouteComponent(() => import("./pages/activity/activity-page.tsx"), "ActivityPage"),
});

const audiences = createRoute({
  getParentRoute: () => root,
  path: "/audiences",
  component: lazyRouteComponent(() => import("./pages/audiences/audiences-page.tsx"), "AudiencesPage"),
});

const audience = createRoute({
  getParentRoute: () => root,
  path: "/audiences/$audienceId",
  component: lazyRouteComponent(() => import("./pages/audiences/audience-page.tsx"), "AudiencePage"),
});

const access = createRoute({
  getParentRoute: () => root,
  path: "/access",
  validateSearch: (search) => filterFrom(search, MADE_TOKEN),
  component: lazyRouteComponent(() => import("./pages/access/access-page.tsx"), "AccessPage"),
});

const deletions = createRoute({
  getParentRoute: () => root,
  path: "/deletions",
  component: lazyRouteComponent(() => import("./pages/deletions/deletions-page.tsx"), "DeletionsPage"),
});

const deletion = createRoute({
  getParentRoute: () => root,
  path: "/deletions/$deletionId",
  component: lazyRouteComponent(() => import("./pages/deletions/deletion-page.tsx"), "DeletionPage"),
});

const sources = createRoute({
  getParentRoute: () => root,
  path: "/sources",
  component: lazyRouteComponent(() => import("./pages/sources/sources-page.tsx"), "SourcesPage"),
});

const source = createRoute({
  getParentRoute: () => root,
  path: "/sources/$sourceId",
  component: lazyRouteComponent(() => import("./pages/sources/source-page.tsx"), "SourcePage"),
});

const destinations = createRoute({
  getParentRoute: () => root,
  path: "/destinations",
  validateSearch: (search) => filterFrom(search, DESTINATIONS_FILTERS),
  component: lazyRouteComponent(() => import("./pages/destinations/destinations-page.tsx"), "DestinationsPage"),
});

const destination = createRoute({
  getParentRoute: () => root,
  path: "/destinations/$destinationId",
  validateSearch: (search) => filterFrom(search, TAB_FIELD),
  component: lazyRouteComponent(() => import("./pages/destinations/destination-page.tsx"), "DestinationPage"),
});

const review = createRoute({
  getParentRoute: () => root,
  path: "/replay",
  validateSearch: (search) => filterFrom(search, REPLAY_FILTERS),
  component: lazyRouteComponent(() => import("./pages/replay/review-page.tsx"), "ReviewPage"),
});

const replay = createRoute({
  getParentRoute: () => root,
  path: "/replays/$replayId",
  component: lazyRouteComponent(() => import("./pages/replay/replay-page.tsx"), "ReplayPage"),
});

const routeTree = root.addChildren([
  first,
  overview,
  connect,
  firstEvent,
  testReceivers,
  sources,
  source,
  destinations,
  destination,
  events,
  event,
  deliveries,
  deadLetters,
  deadLettersList,
  review,
  replay,
  audiences,
  audience,
  deletions,
  deletion,
  activity,
  access,
]);

/** A router that begins at the window's address; its history is to be destroyed with it. */
export function createConsoleRouter() {
  return createRouter({
    routeTree,
    defaultPreload: false,
    // Drops a search parameter that is no filter of its page.
    search: { strict: true },
    // Texts as they stand: a message id of digits is no number.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => searchOf(search),
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
