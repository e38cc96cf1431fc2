/**
 * The one window of the process, in jsdom, with the parts of a browser that a page of the console asks for beside its
 * document.
 *
 * Owns: the window, whose names stand among the process's own while a page is open, and no longer: other code of the
 * process finds its own timers and its own `fetch`.
 */
import { JSDOM } from "jsdom";
import { countChanges, displayOf, innerTextOf, isDisplayed, visibilityOf } from "./console-styles.ts";

/** An event of the window is one of these, and no other. */
const OF_WINDOW = [
  "Event",
  "EventTarget",
  "CustomEvent",
  "MessageEvent",
  "navigator",
  "localStorage",
  "sessionStorage",
];
/** Of the built page, as far as the console changes it. */
export const HEAD = '<title>Posthaste</title><link rel="icon" href="/assets/icon-built.svg">';

/** A canvas takes drawings, and shows nothing. */
const DRAWN_NOWHERE: unknown = new Proxy(() => {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : DRAWN_NOWHERE),
  apply: () => DRAWN_NOWHERE,
});

export interface DomWindow {
  readonly dom: JSDOM;
  readonly window: JSDOM["window"];
  /** Puts its names among the process's own, with these beside them; returns a function that takes them away. */
  readonly enter: (others: Readonly<Record<string, unknown>>) => () => void;
  /** As a browser's debugger gives the focus: the page's own scripts are not told that it was to be. */
  readonly focus: (element: HTMLElement) => void;
  readonly resize: (width: number) => void;
  /** Goes up with each change of its document, and of its width. */
  readonly changes: () => number;
}

export function createDomWindow(): DomWindow {
  const dom = new JSDOM(`<!doctype html><html lang="en"><head>${HEAD}</head><body></body></html>`, {
    url: "http://console.test/",
    pretendToBeVisual: true,
  });
  const { window } = dom;
  giveLayoutless(window);
  const { focus } = window.HTMLElement.prototype;
  const names = Object.getOwnPropertyNames(window).filter((name) => !(name in globalThis) || OF_WINDOW.includes(name));
  const changed = noteChanges(window);
  countChanges(changed.count);
  return {
    dom,
    window,
    changes: changed.count,
    focus: (element) => focus.call(element),
    enter(others) {
      const put = new Map<string, unknown>([
        ...names.map((name) => [name, Reflect.get(window, name)] as const),
        ["window", window],
        ...Object.entries(others),
      ]);
      const before = [...put.keys()].map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
      for (const [name, value] of put) {
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
      }
      for (const [name, value] of Object.entries(others)) {
        Object.defineProperty(window, name, { value, configurable: true, writable: true });
      }
      return () => {
        for (const [name, its] of before) {
          if (its === undefined) Reflect.deleteProperty(globalThis, name);
          else Object.defineProperty(globalThis, name, its);
        }
      };
    },
    resize(width) {
      Object.defineProperty(window, "innerWidth", { value: width, configurable: true });
      changed.note();
    },
  };
}

function noteChanges(window: JSDOM["window"]): { readonly note: () => void; readonly count: () => number } {
  let changes = 0;
  const note = (): void => {
    changes += 1;
  };
  const observer = new window.MutationObserver(note);
  observer.observe(window.document, { subtree: true, childList: true, attributes: true, characterData: true });
  return {
    note,
    count() {
      // The observer itself is told of a change when the code that made it has ended.
      if (observer.takeRecords().length > 0) note();
      return changes;
    },
  };
}

/** A document's questions about its layout, answered by the style sheets alone; 0 where no sheet says anything. */
function giveLayoutless(window: JSDOM["window"]): void {
  const { Element, HTMLElement, HTMLCanvasElement } = window;
  const style = {
    get: (element: Element, name: string | symbol): unknown => {
      if (name === "display") return displayOf(element);
      if (name === "visibility") return visibilityOf(element);
      if (name === "getPropertyValue") return (its: string) => style.get(element, its);
      return "";
    },
  };
  window.getComputedStyle = (element) =>
    new Proxy({}, { get: (_, name) => style.get(element, name) }) as CSSStyleDeclaration;
  Object.assign(Element.prototype, {
    checkVisibility(this: Element) {
      return isDisplayed(this);
    },
    scrollIntoView() {},
    scrollTo() {},
  });
  Object.assign(window, { scrollTo() {} });
  Object.defineProperty(HTMLElement.prototype, "innerText", {
    configurable: true,
    get(this: Element) {
      return innerTextOf(this);
    },
  });
  Object.assign(window, {
    Path2D: class {
      rect() {}
      moveTo() {}
      lineTo() {}
      arc() {}
      closePath() {}
      addPath() {}
    },
    ResizeObserver: class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  });
  // As Chromium has it: the element with the focus is told that it has lost it, while it still stands there.
  const { removeChild } = window.Node.prototype;
  window.Node.prototype.removeChild = function remove<Child extends Node>(this: Node, child: Child): Child {
    const { activeElement, body } = window.document;
    if (activeElement !== body && child.contains(activeElement)) (activeElement as HTMLElement).blur();
    return removeChild.call(this, child) as Child;
  };
  const { focus } = HTMLElement.prototype;
  HTMLElement.prototype.focus = function focusConnected(this: HTMLElement, options?: FocusOptions): void {
    if (this.isConnected && isDisplayed(this)) focus.call(this, options);
  };
  HTMLCanvasElement.prototype.getContext = (() => DRAWN_NOWHERE) as never;
}
