/**
 * A page of the console in the process: the sources themselves, drawn into jsdom, in a time of their own. It has the
 * methods of Playwright's `Page` that stories use.
 *
 * Owns: the console that is shown, its time, and its faults.
 * - A story waits for elements as Playwright does, but no real time passes: the page's time goes on to its next timer
 *   until they are there, for half a minute at the most.
 * - While the page's clock is paused its time passes by `clock.runFor` alone.
 */
import { type UserEvent, userEvent } from "@testing-library/user-event";
import type { FakeControl } from "../fake-control.ts";
import { DomLocator, type Narrowing } from "./dom-locator.ts";
import { createDomWindow, HEAD } from "./dom-window.ts";
import { createFakeNetwork, type FakeNetwork } from "./fake-network.ts";
import { createVirtualTime } from "./virtual-time.ts";

export const ORIGIN = "http://console.test";
/** Of the page's own time. */
const PATIENCE_MS = 30_000;
/** The least time of a person between two presses. */
const HAND_MS = 50;
/** Where no timer waits. */
const LONGEST_STEP_MS = 500;
/** Turns of the process in which nothing came: a step begun in it is through by then. */
const IDLE_TURNS = 3;
/** While the clock is paused. */
const MOST_LOOKS = 200;

/** One for the process: a document and the console's imports cost more than most stories. */
const shared = createDomWindow();
let shownPage: DomPage | undefined;
/** One too: React uses for good the values that it took of it when it was imported. */
const time = createVirtualTime(async () => shownPage?.settle());

let imported: ReturnType<typeof importConsole> | undefined;

/** While the names of the window stand: the imported modules look for them. */
async function importConsole() {
  const { showConsole } = await import("../../src/console.tsx");
  const { setInteractionModality } = await import("react-aria-components");
  return { showConsole, setInteractionModality };
}

type Moment = number | string | Date;

export interface DomPageOptions {
  readonly control: FakeControl;
  readonly at: Date;
  /** The clock stands. */
  readonly stands: boolean;
  readonly width: number;
  readonly theme: "light" | "dark";
  readonly zone: string;
}

export class DomPage {
  readonly faults: string[] = [];
  readonly #network: FakeNetwork;
  readonly #leave: () => void;
  #user: UserEvent;
  #unmount: (() => void) | null = null;
  #isPaused = false;
  #isOpen = true;
  /** Where a link leads that is no part of the console's own navigation: to a new document, as in a browser. */
  #leadsTo: string | null = null;
  readonly #follow = (event: Event): void => {
    const link = event.target instanceof window.Element ? event.target.closest("a") : null;
    if (event.defaultPrevented || link === null || !link.hasAttribute("href")) return;
    const [address = "", fragment] = link.href.split("#");
    if (fragment !== undefined && address === location.href.split("#")[0]) {
      document.getElementById(fragment)?.focus();
      return;
    }
    event.preventDefault();
    this.#leadsTo = link.href;
  };
  /** Goes up with all that a look at the page may find anew beside the document's changes. */
  #changes = 0;
  readonly #note = (): void => {
    this.#changes += 1;
  };

  constructor({ control, at, stands, width, theme, zone }: DomPageOptions) {
    this.#network = createFakeNetwork(control, ORIGIN);
    shownPage = this;
    time.show(at.getTime(), stands);
    const zoneBefore = process.env["TZ"];
    process.env["TZ"] = zone;
    const others = {
      ...time.globals,
      ...this.#network.globals,
      performance: new Proxy(performance, {
        get: (its, name) => (name === "now" ? time.sinceBeginMs : Reflect.get(its, name)),
      }),
      reportError: (error: unknown) => this.faults.push(`an error was thrown: ${String(error)}`),
      matchMedia: (query: string) => matchedMedia(query, theme),
    };
    const leave = shared.enter(others);
    shared.resize(width);
    this.#leave = () => {
      leave();
      if (zoneBefore === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zoneBefore;
    };
    this.#user = userEvent.setup({ document, delay: null, pointerEventsCheck: 0 });
    giveClipboard();
    for (const type of ["focusin", "focusout", "input"]) document.addEventListener(type, this.#note);
    window.addEventListener("click", this.#follow);
  }

  // Queries.
  readonly #all = new DomLocator(this, "");
  readonly getByRole = this.#all.getByRole.bind(this.#all);
  readonly getByText = this.#all.getByText.bind(this.#all);
  readonly getByLabel = this.#all.getByLabel.bind(this.#all);

  locator(selector: string, narrowing?: Narrowing): DomLocator {
    return this.#all.locator(selector, narrowing);
  }

  // Where it is.
  url(): string {
    return location.href;
  }

  async title(): Promise<string> {
    return document.title;
  }

  async content(): Promise<string> {
    return document.documentElement.outerHTML;
  }

  /** Leaves the shown page, and shows an address of the console. */
  async goto(url: string): Promise<void> {
    this.#hide();
    history.pushState(null, "", url);
    await this.#show();
  }

  async reload(): Promise<void> {
    this.#hide();
    await this.#show();
  }

  async goBack(): Promise<void> {
    history.back();
    await this.pass(1);
  }

  async goForward(): Promise<void> {
    history.forward();
    await this.pass(1);
  }

  async waitForURL(wanted: string | RegExp | ((url: URL) => boolean)): Promise<void> {
    await this.until(`the address ${String(wanted)}`, () => fits(location.href, wanted));
  }

  // Actions.
  readonly keyboard = {
    press: async (key: string): Promise<void> => {
      const words = key.replace("ControlOrMeta", "Control").split(/\+(?=.)/);
      const last = words.pop() ?? "";
      const held = words.map((each) => `{${each}>}`).join("");
      const freed = words.map((each) => `{/${each}}`).join("");
      await this.act((user) => user.keyboard(`${held}${keyWord(last)}${freed}`));
      if (last === "v" && words.length > 0) await this.keyboard.insertText(await navigator.clipboard.readText());
    },
    type: async (text: string): Promise<void> => {
      await this.act((user) => user.keyboard([...text].map(keyWord).join("")));
    },
    insertText: async (text: string): Promise<void> => {
      await this.act((user) => user.paste(text));
    },
  };

  readonly clock = {
    install: async (): Promise<void> => {},
    setFixedTime: async (at: Moment): Promise<void> => time.show(new Date(at).getTime(), true),
    /** Its time passes by `clock.runFor` alone while it is paused. */
    pauseAt: async (at: Moment): Promise<void> => {
      time.jump(new Date(at).getTime() - time.nowMs());
      if (this.#unmount !== null) await this.pass(0);
      this.#isPaused = true;
    },
    resume: async (): Promise<void> => {
      this.#isPaused = false;
    },
    runFor: (ms: number): Promise<void> => this.pass(ms),
  };

  async evaluate<Answer, Given>(ask: (given: Given) => Answer, given?: Given): Promise<Awaited<Answer>> {
    const answer = ask(given as Given);
    await this.settle();
    return await answer;
  }

  on(_: "request", tell: (request: { readonly url: () => string }) => void): void {
    this.#network.onAsked.add((pathname) => tell({ url: () => ORIGIN + pathname }));
  }

  async setViewportSize({ width }: { readonly width: number }): Promise<void> {
    shared.resize(width);
    window.dispatchEvent(new window.Event("resize"));
    await this.settle();
  }

  focus(element: HTMLElement): void {
    shared.focus(element);
  }

  isClosed(): boolean {
    return !this.#isOpen;
  }

  /** As in a browser, but for the rules of layout and of colours. */
  async axeFaults(exclude: readonly string[]): Promise<readonly string[]> {
    const { findStructureViolations } = await import("./dom-axe.ts");
    const finding = findStructureViolations(exclude);
    let isFound = false;
    const end = (): void => {
      isFound = true;
    };
    finding.then(end, end);
    while (!isFound) await this.pass(1);
    return finding;
  }

  // How its time passes.
  async act(deed: (user: UserEvent) => Promise<unknown>): Promise<void> {
    if (!this.#isPaused) await this.pass(HAND_MS);
    await deed(this.#user);
    this.#changes += 1;
    await this.settle();
    const leadsTo = this.#leadsTo;
    this.#leadsTo = null;
    if (leadsTo !== null) await this.goto(leadsTo);
  }

  async settle(): Promise<void> {
    for (let idle = 0; idle < IDLE_TURNS; idle += 1) {
      await new Promise(setImmediate);
      if (this.#network.underWay() > 0) idle = -1;
    }
  }

  async pass(ms: number): Promise<void> {
    await time.pass(ms);
    this.#changes += 1;
  }

  /** Looks until the answer is neither undefined nor false; `always`: also while nothing changes on the page. */
  async until<Found>(
    wanted: string,
    look: () => Found | undefined | Promise<Found | undefined>,
    always = false,
  ): Promise<Exclude<Found, false | undefined>> {
    let [seen, passedMs, looks] = [-1, 0, 0];
    for (;;) {
      await this.settle();
      this.mustBeOpen();
      const changes = this.#changes + shared.changes();
      if (always || seen !== changes) {
        seen = changes;
        const found = await look();
        if (found !== undefined && found !== false) return found as Exclude<Found, false | undefined>;
      }
      looks += 1;
      if (passedMs > PATIENCE_MS || (this.#isPaused && looks > MOST_LOOKS)) {
        throw new Error(
          `waited half a minute of the page's time for ${wanted}\n${document.body.innerText.slice(-2000)}`,
        );
      }
      if (!this.#isPaused) passedMs += await time.passNext(LONGEST_STEP_MS);
    }
  }

  mustBeOpen(): void {
    if (!this.#isOpen) throw new Error("the page is closed");
  }

  /** Leaves it, with nothing kept. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#hide();
    await this.settle();
    this.#isOpen = false;
    localStorage.clear();
    sessionStorage.clear();
    for (const type of ["focusin", "focusout", "input"]) document.removeEventListener(type, this.#note);
    window.removeEventListener("click", this.#follow);
    this.#leave();
  }

  async #show(): Promise<void> {
    imported ??= importConsole();
    const { showConsole, setInteractionModality } = await imported;
    // As in a new tab: keys pressed before in another one are nothing to it.
    setInteractionModality("keyboard");
    document.body.innerHTML = '<div id="root"></div>';
    this.#unmount = showConsole(new Map());
    await this.settle();
  }

  #hide(): void {
    this.#unmount?.();
    this.#unmount = null;
    this.#network.close();
    time.clear();
    document.body.replaceChildren();
    document.head.innerHTML = HEAD;
    delete document.documentElement.dataset["theme"];
  }
}

const NAMED_KEYS: Readonly<Record<string, string>> = { Space: " ", Control: "Control" };

/** As user-event names it. */
function keyWord(key: string): string {
  if (key === "{" || key === "[") return key + key;
  return key.length === 1 ? key : `{${NAMED_KEYS[key] ?? key}}`;
}

/** `wanted`: a pattern of Playwright's, where two stars stand for anything and one for a text without a slash. */
function fits(href: string, wanted: string | RegExp | ((url: URL) => boolean)): boolean {
  if (typeof wanted === "function") return wanted(new URL(href));
  if (wanted instanceof RegExp) return wanted.test(href);
  const escaped = wanted.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/\*\*|\*/g, (stars) => (stars === "**" ? ".*" : "[^/]*"))}$`).test(href);
}

const UNCHANGING = { addEventListener() {}, removeEventListener() {} };

/** The answers of the window to the media queries of the console. */
function matchedMedia(
  query: string,
  theme: string,
): Pick<MediaQueryList, "matches" | "addEventListener" | "removeEventListener"> {
  const [, bound, size] = /\((min|max)-width: ([\d.]+)rem\)/.exec(query) ?? [];
  const px = Number(size) * 16;
  if (bound === undefined) return { matches: query === `(prefers-color-scheme: ${theme})`, ...UNCHANGING };
  const matches = bound === "min" ? window.innerWidth >= px : bound === "max" && window.innerWidth <= px;
  return { matches, ...UNCHANGING };
}

function giveClipboard(): void {
  let held = "";
  const clipboard = {
    writeText: async (text: string) => {
      held = text;
    },
    readText: async () => held,
  };
  Object.defineProperty(navigator, "clipboard", { value: clipboard, configurable: true });
}
