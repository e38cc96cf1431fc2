/** The surroundings of every page: the links, the search, the session. */
import { Outlet, useRouter, useRouterState } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { Button, Link, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Dialog } from "../elements/dialog.tsx";
import { isTyping, useKeys } from "../keys/keys.ts";
import { pressPageKey } from "../keys/page-keys.ts";
import { stepRows } from "../keys/rows.ts";
import { toggleLive, useOpenStream } from "../live/live.ts";
import type { SessionState } from "../session/session.ts";
import { SignInForm } from "../session/sign-in-form.tsx";
import failing from "../status/icon-failing.svg";
import open from "../status/icon-open.svg";
import { useWorstState } from "../status/status.ts";
import styles from "./frame.module.css";
import { HelpDialog } from "./help-dialog.tsx";
import { useOpenedEvent } from "./opened-row.ts";
import { Palette } from "./palette.tsx";
import { pastedId } from "./pasted-id.ts";
import { PLACES } from "./places.ts";
import { TopBar } from "./top-bar.tsx";

const EventDrawer = lazy(async () => ({ default: (await import("../pages/event/event-drawer.tsx")).EventDrawer }));

export function Frame({ session }: { readonly session: Exclude<SessionState, { readonly state: "none" }> }) {
  const router = useRouter();
  const openedEvent = useOpenedEvent();
  const [isSearching, setSearching] = useState(false);
  const [isHelping, setHelping] = useState(false);
  const actions = useMemo(
    () => ({
      "/": () => setSearching(true),
      "Ctrl+k": () => setSearching(true),
      "?": () => setHelping(true),
      j: () => stepRows(1),
      k: () => stepRows(-1),
      l: toggleLive,
      c: () => pressPageKey("c"),
      f: () => pressPageKey("f"),
      r: () => pressPageKey("r"),
      ...Object.fromEntries(PLACES.map(({ key, path }) => [`g ${key}`, () => router.history.push(path)])),
    }),
    [router],
  );
  useKeys(actions);
  useOpenStream(session.state === "open");
  usePastedIds((id) => router.history.push(`/events/${encodeURIComponent(id)}`));
  return (
    <div className={styles["frame"]}>
      <a className={styles["skip"]} href="#page">
        To the page
      </a>
      <TabIcon />
      <Rail />
      <TopBar onSearch={() => setSearching(true)} onHelp={() => setHelping(true)} />
      <Page />
      <Palette isOpen={isSearching} onClose={() => setSearching(false)} onHelp={() => setHelping(true)} />
      <HelpDialog isOpen={isHelping} onClose={() => setHelping(false)} />
      {openedEvent !== undefined && (
        <Suspense>
          <EventDrawer key={openedEvent} messageId={openedEvent} onClose={() => router.history.back()} />
        </Suspense>
      )}
      {session.state === "expired" && <ExpiredDialog name={session.name} />}
    </div>
  );
}

/** The page; it has the focus when one went to it, so that the keyboard goes on from there. */
function Page() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const page = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    page.current?.focus();
  }, [path]);
  return (
    <main id="page" tabIndex={-1} ref={page} className={styles["page"]}>
      <Outlet />
    </main>
  );
}

function Rail() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <nav className={styles["rail"]} aria-label="Pages">
      <span className={styles["brand"]}>Posthaste</span>
      <ul>
        {PLACES.map(({ path: to, name, icon: Icon, isRare }) => (
          <li key={to} {...(isRare ? { className: styles["rare"] } : {})}>
            <Link
              href={to}
              className={styles["place"] ?? ""}
              {...(path === to || path.startsWith(`${to}/`) ? { "aria-current": "page" as const } : {})}
            >
              <Icon size={18} aria-hidden />
              <span>{name}</span>
            </Link>
          </li>
        ))}
        <li className={styles["moreItem"]}>
          <MoreMenu />
        </li>
      </ul>
    </nav>
  );
}

/** A text pasted where nothing can be typed is looked for. */
function usePastedIds(goTo: (id: string) => void): void {
  const go = useRef(goTo);
  go.current = goTo;
  useEffect(() => {
    const onPaste = (event: ClipboardEvent): void => {
      if (isTyping(event.target)) return;
      const id = pastedId(event.clipboardData?.getData("text/plain") ?? "");
      if (id !== null) go.current(id);
    };
    window.addEventListener("paste", onPaste);
    return () => window.removeEventListener("paste", onPaste);
  }, []);
}

/** On a narrow screen: the pages that have no place in the bar. */
function MoreMenu() {
  return (
    <MenuTrigger>
      <Button className={`${styles["place"]} ${styles["moreButton"]}`}>
        <Ellipsis size={18} aria-hidden />
        <span>More</span>
      </Button>
      <Popover className={styles["popover"] ?? ""} placement="top end">
        <Menu className={styles["menu"] ?? ""} aria-label="More pages">
          {PLACES.filter(({ isRare }) => isRare).map(({ path, name }) => (
            <MenuItem key={path} id={path} href={path} className={styles["menuItem"] ?? ""}>
              {name}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

/** Over the page, which stays as it is. */
function ExpiredDialog({ name }: { readonly name: string }) {
  return (
    <Dialog title="Your session is over" isOpen>
      <p>You were signed in as {name}. Sign in again: nothing on this page is lost.</p>
      <SignInForm />
    </Dialog>
  );
}

/** The icon of the tab carries the worst state of any destination. */
function TabIcon() {
  const worst = useWorstState();
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (link === null) return;
    link.dataset["healthy"] ??= link.href;
    const healthy = link.dataset["healthy"];
    link.href = worst === "open" ? open : worst === "failing" ? failing : healthy;
  }, [worst]);
  return null;
}
