/**
 * The elements that a story finds on a page in the process, and its actions on them: Playwright's locators, as far as
 * stories use them. A locator is resolved by a fork of Playwright's own resolution; it finds the elements that are
 * there when it is asked.
 */

import type { UserEvent } from "@testing-library/user-event";
import {
  type getByLabelSelector as ByLabel,
  getByLabelSelector,
  getByRoleSelector,
  getByTextSelector,
  Ivya,
} from "ivya";
import { isDisplayed, visibilityOf } from "./console-styles.ts";

type Text = string | RegExp;
type Exactness = Parameters<typeof ByLabel>[1];
type RoleOptions = NonNullable<Parameters<typeof getByRoleSelector>[1]>;

/** The part of its page that a locator uses. */
export interface LocatedPage {
  readonly keyboard: { readonly press: (key: string) => Promise<void> };
  readonly mustBeOpen: () => void;
  readonly settle: () => Promise<void>;
  readonly focus: (element: HTMLElement) => void;
  readonly act: (deed: (user: UserEvent) => Promise<unknown>) => Promise<void>;
  readonly until: <Found>(wanted: string, look: () => Found | undefined) => Promise<Exclude<Found, false | undefined>>;
}

export interface Narrowing {
  readonly hasText?: Text;
  readonly hasNotText?: Text;
  readonly has?: DomLocator;
  readonly hasNot?: DomLocator;
}

/** The reasons for which Playwright does not press an element. */
const DISABLED = "[aria-disabled=true], :is(button, input, select, textarea, option, fieldset):disabled";

export class DomLocator {
  readonly #page: LocatedPage;
  readonly #selector: string;

  constructor(page: LocatedPage, selector: string) {
    this.#page = page;
    this.#selector = selector;
  }

  getByRole(role: string, options: RoleOptions = {}): DomLocator {
    return this.#within(getByRoleSelector(role, options));
  }

  getByText(text: Text, options?: Exactness): DomLocator {
    return this.#within(getByTextSelector(text, options));
  }

  getByLabel(text: Text, options?: Exactness): DomLocator {
    return this.#within(getByLabelSelector(text, options));
  }

  locator(selector: string, narrowing: Narrowing = {}): DomLocator {
    return this.#within(selector).filter(narrowing);
  }

  filter({ hasText, hasNotText, has, hasNot }: Narrowing): DomLocator {
    let narrowed: DomLocator = this;
    if (hasText !== undefined) narrowed = narrowed.#within(textClause("has-text", hasText));
    if (hasNotText !== undefined) narrowed = narrowed.#within(textClause("has-not-text", hasNotText));
    if (has !== undefined) narrowed = narrowed.#within(`internal:has=${JSON.stringify(has.#selector)}`);
    if (hasNot !== undefined) narrowed = narrowed.#within(`internal:has-not=${JSON.stringify(hasNot.#selector)}`);
    return narrowed;
  }

  and(other: DomLocator): DomLocator {
    return this.#within(`internal:and=${JSON.stringify(other.#selector)}`);
  }

  or(other: DomLocator): DomLocator {
    return this.#within(`internal:or=${JSON.stringify(other.#selector)}`);
  }

  nth(index: number): DomLocator {
    return this.#within(`nth=${index}`);
  }

  first(): DomLocator {
    return this.nth(0);
  }

  last(): DomLocator {
    return this.nth(-1);
  }

  page(): LocatedPage {
    return this.#page;
  }

  async all(): Promise<readonly DomLocator[]> {
    return this.#found().map((_, index) => this.nth(index));
  }

  async count(): Promise<number> {
    return this.#found().length;
  }

  async allInnerTexts(): Promise<string[]> {
    return this.#found().map((each) => (each as HTMLElement).innerText);
  }

  async evaluateAll<Answer>(ask: (elements: HTMLElement[]) => Answer): Promise<Answer> {
    return ask(this.#found() as HTMLElement[]);
  }

  async evaluate<Answer>(ask: (element: HTMLElement) => Answer): Promise<Answer> {
    return ask(await this.#one());
  }

  async isVisible(): Promise<boolean> {
    const [found] = this.#found();
    return found !== undefined && isSeen(found);
  }

  async waitFor({ state = "visible" }: { readonly state?: "attached" | "detached" | "visible" | "hidden" } = {}) {
    await this.#page.until(this.#wanted(state), () => {
      const found = this.#single();
      if (state === "attached" || state === "detached") return (found === undefined) === (state === "detached");
      return (found !== undefined && isSeen(found)) === (state === "visible");
    });
  }

  async getAttribute(name: string): Promise<string | null> {
    return (await this.#one()).getAttribute(name);
  }

  async innerText(): Promise<string> {
    return (await this.#one()).innerText;
  }

  async textContent(): Promise<string | null> {
    return (await this.#one()).textContent;
  }

  async inputValue(): Promise<string> {
    return ((await this.#one()) as HTMLInputElement).value;
  }

  async focus(): Promise<void> {
    this.#page.focus(await this.#one());
    await this.#page.settle();
  }

  async click(): Promise<void> {
    const element = await this.#pressable();
    await this.#page.act((user) => user.click(element));
  }

  async hover(): Promise<void> {
    const element = await this.#one("visible");
    await this.#page.act((user) => user.hover(element));
  }

  async press(key: string): Promise<void> {
    await this.focus();
    await this.#page.keyboard.press(key);
  }

  async dispatchEvent(type: string): Promise<void> {
    const element = await this.#one();
    element.dispatchEvent(new window.Event(type, { bubbles: true, cancelable: true }));
    await this.#page.settle();
  }

  /** As a browser does that is told the whole text at once. */
  async fill(text: string): Promise<void> {
    const element = (await this.#pressable()) as HTMLInputElement;
    this.#page.focus(element);
    setValue(element, text);
    element.dispatchEvent(new window.Event("input", { bubbles: true }));
    element.dispatchEvent(new window.Event("change", { bubbles: true }));
    await this.#page.settle();
  }

  /** By its value or by its words. */
  async selectOption(wanted: string): Promise<void> {
    const element = (await this.#pressable()) as HTMLSelectElement;
    const option = await this.#page.until(`the option ${wanted} of ${this.#selector}`, () =>
      [...element.options].find(({ value, label }) => value === wanted || label === wanted),
    );
    this.#page.focus(element);
    setValue(element, option.value);
    element.dispatchEvent(new window.Event("input", { bubbles: true }));
    element.dispatchEvent(new window.Event("change", { bubbles: true }));
    await this.#page.settle();
  }

  #within(selector: string): DomLocator {
    return new DomLocator(this.#page, this.#selector === "" ? selector : `${this.#selector} >> ${selector}`);
  }

  #found(): Element[] {
    this.#page.mustBeOpen();
    return Ivya.create({ browser: "chromium" }).queryLocatorSelectorAll(this.#selector, document);
  }

  /** Throws where there are several: which is meant is for a story to say. */
  #single(): HTMLElement | undefined {
    const found = this.#found();
    if (found.length < 2) return found[0] as HTMLElement | undefined;
    const first = found.slice(0, 5).map((each) => each.outerHTML.slice(0, 200));
    throw new Error(`${found.length} elements for ${this.#selector}:\n${first.join("\n")}`);
  }

  #one(state: "attached" | "visible" = "attached"): Promise<HTMLElement> {
    return this.#page.until(this.#wanted(state), () => {
      const found = this.#single();
      return found === undefined || (state === "visible" && !isSeen(found)) ? undefined : found;
    });
  }

  #pressable(): Promise<HTMLElement> {
    return this.#page.until(this.#wanted("pressable"), () => {
      const found = this.#single();
      return found === undefined || !isSeen(found) || found.closest(DISABLED) !== null ? undefined : found;
    });
  }

  #wanted(state: string): string {
    return `${this.#selector} to be ${state}`;
  }
}

function isSeen(element: Element): boolean {
  return isDisplayed(element) && visibilityOf(element) !== "hidden";
}

function textClause(kind: "has-text" | "has-not-text", text: Text): string {
  return getByTextSelector(text).replace(/^internal:text=/, `internal:${kind}=`);
}

/** Past React's copy of it, so that it sees a change. */
function setValue(element: HTMLInputElement | HTMLSelectElement, value: string): void {
  const ofKind = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), "value");
  ofKind?.set?.call(element, value);
}
