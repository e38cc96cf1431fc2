/**
 * A panel that opens from a row of a list.
 *
 * OR1  An event opens over its list where the window is wide, and is a page where it is narrow. Its address is the
 *      address of its page in both: a reload, and a receiver of the link, see the page.
 * OR2  The list stays as it is below it, and is there again when it closes.
 */
import { type AnyRouter, useRouterState } from "@tanstack/react-router";

const WIDE = "(min-width: 64rem)";

declare module "@tanstack/history" {
  interface HistoryState {
    /** The message id of the event that is open over the page. */
    readonly openedEvent?: string;
  }
}

/** OR1. `href`: where the row leads. */
export function openRow(router: AnyRouter, href: string): void {
  const messageId = /^\/events\/([^/?#]+)$/.exec(href)?.[1];
  if (messageId === undefined || !window.matchMedia(WIDE).matches) {
    router.history.push(href);
    return;
  }
  const openedEvent = decodeURIComponent(messageId);
  const mask = { to: "/events/$messageId", params: { messageId: openedEvent }, unmaskOnReload: true };
  void router.navigate({ to: ".", search: true, state: { openedEvent }, mask });
}

/** The event that is open over the page; undefined for none. */
export function useOpenedEvent(): string | undefined {
  return useRouterState({ select: ({ location }) => location.state.openedEvent });
}
