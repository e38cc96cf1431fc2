/** Every page by its address. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { NoPage } from "./frame/no-page.tsx";
import { FIRST_PLACE } from "./frame/places.ts";
import { Root } from "./root.tsx";

const root = createRootRoute({ component: Root, notFoundComponent: NoPage });

const first = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: FIRST_PLACE, replace: true });
  },
});

const events = createRoute({
  getParentRoute: () => root,
  path: "/events",
  component: lazyRouteComponent(() => import("./pages/event/find-event-page.tsx"), "FindEventPage"),
});

const event = createRoute({
  getParentRoute: () => root,
  path: "/events/$messageId",
  component: lazyRouteComponent(() => import("./pages/event/event-page.tsx"), "EventPage"),
});

export const router = createRouter({ routeTree: root.addChildren([first, events, event]), defaultPreload: false });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
