/** Every page by its address. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent as lazy,
  type RouteComponent,
  redirect,
} from "@tanstack/react-router";
import { DEAD_LETTER_FILTERS, LISTED_FILTERS } from "./dead-letters/dead-letter-filter.ts";
import { REPLAY_FILTERS } from "./dead-letters/replay-filter.ts";
import { FIRST_PLACE } from "./frame/places.ts";
import { type FilterField, filterFrom, searchOf } from "./listing/filter.ts";
import { Empty } from "./listing/loaded.tsx";
import { ACTIVITY_FILTERS } from "./pages/activity/activity-filter.ts";
import { DELIVERY_FILTERS } from "./pages/deliveries/delivery-filter.ts";
import { TAB_FIELD } from "./pages/destinations/destination-tab.ts";
import { DESTINATIONS_FILTERS, DESTINATIONS_SORT } from "./pages/destinations/destinations-filter.ts";
import { EVENT_FILTERS } from "./pages/events/event-filter.ts";
import { OverviewPage } from "./pages/overview/overview-page.tsx";
import { Root } from "./root.tsx";
import { PageTitle } from "./status/page-title.tsx";

/** The object that is being made on the page, so that a link can lead there. */
const MADE_TOKEN: readonly FilterField<"make">[] = [
  {
    ...{ key: "make", label: "Make" },
    choices: [
      ["token", "for somebody else"],
      ["own", "for one's own terminal"],
    ],
  },
];

const root = createRootRoute({ component: Root, notFoundComponent: NoPage });

/** A page at its address, with the filters that the address may have. */
function page<const Path extends string, Key extends string = never>(
  path: Path,
  component: RouteComponent,
  fields: readonly FilterField<Key>[] = [],
) {
  const validateSearch = (search: Readonly<Record<string, unknown>>) => filterFrom(search, fields);
  return createRoute({ getParentRoute: () => root, path, component, validateSearch });
}

const toFirst = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: FIRST_PLACE, replace: true });
  },
});

const ConnectPage = lazy(() => import("./pages/connect/connect-page.tsx"), "ConnectPage");

const FirstEventPage = lazy(() => import("./pages/connect/first-event-page.tsx"), "FirstEventPage");

const TestReceiversPage = lazy(() => import("./pages/test-receivers/test-receivers-page.tsx"), "TestReceiversPage");

const SourcesPage = lazy(() => import("./pages/sources/sources-page.tsx"), "SourcesPage");

const SourcePage = lazy(() => import("./pages/sources/source-page.tsx"), "SourcePage");

const DestinationsPage = lazy(() => import("./pages/destinations/destinations-page.tsx"), "DestinationsPage");

const DestinationPage = lazy(() => import("./pages/destinations/destination-page.tsx"), "DestinationPage");

const EventsPage = lazy(() => import("./pages/events/events-page.tsx"), "EventsPage");

const EventPage = lazy(() => import("./pages/event/event-page.tsx"), "EventPage");

const DeliveriesPage = lazy(() => import("./pages/deliveries/deliveries-page.tsx"), "DeliveriesPage");

const DeadLettersPage = lazy(() => import("./pages/dead-letters/dead-letters-page.tsx"), "DeadLettersPage");

const DeadLettersListPage = lazy(
  () => import("./pages/dead-letters/dead-letters-list-page.tsx"),
  "DeadLettersListPage",
);

const ReviewPage = lazy(() => import("./pages/replay/review-page.tsx"), "ReviewPage");

const ReplayPage = lazy(() => import("./pages/replay/replay-page.tsx"), "ReplayPage");

const AudiencesPage = lazy(() => import("./pages/audiences/audiences-page.tsx"), "AudiencesPage");

const AudiencePage = lazy(() => import("./pages/audiences/audience-page.tsx"), "AudiencePage");

const DeletionsPage = lazy(() => import("./pages/deletions/deletions-page.tsx"), "DeletionsPage");

const DeletionPage = lazy(() => import("./pages/deletions/deletion-page.tsx"), "DeletionPage");

const ActivityPage = lazy(() => import("./pages/activity/activity-page.tsx"), "ActivityPage");

const AccessPage = lazy(() => import("./pages/access/access-page.tsx"), "AccessPage");

const routeTree = root.addChildren([
  toFirst,
  // The page that most people come to: with the other files that every page loads, not behind them.
  page("/overview", OverviewPage),
  page("/connect", ConnectPage, [{ key: "kind", label: "Kind" }]),
  page("/connect/$destinationId", FirstEventPage),
  page("/test-receivers", TestReceiversPage, [{ key: "id", label: "Id" }]),
  page("/sources", SourcesPage),
  page("/sources/$sourceId", SourcePage),
  page("/destinations", DestinationsPage, [...DESTINATIONS_FILTERS, ...DESTINATIONS_SORT]),
  page("/destinations/$destinationId", DestinationPage, TAB_FIELD),
  page("/events", EventsPage, EVENT_FILTERS),
  page("/events/$messageId", EventPage),
  page("/deliveries", DeliveriesPage, DELIVERY_FILTERS),
  page("/dead-letters", DeadLettersPage, DEAD_LETTER_FILTERS),
  page("/dead-letters/letters", DeadLettersListPage, LISTED_FILTERS),
  page("/replay", ReviewPage, REPLAY_FILTERS),
  page("/replays/$replayId", ReplayPage),
  page("/audiences", AudiencesPage),
  page("/audiences/$audienceId", AudiencePage),
  page("/deletions", DeletionsPage),
  page("/deletions/$deletionId", DeletionPage),
  page("/activity", ActivityPage, ACTIVITY_FILTERS),
  page("/access", AccessPage, MADE_TOKEN),
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

/** For an address that leads nowhere. */
function NoPage() {
  return (
    <>
      <PageTitle>No such page</PageTitle>
      <h1>No such page</h1>
      <Empty action={<a href="/">To the first page</a>}>This address leads to no page of the console.</Empty>
    </>
  );
}
