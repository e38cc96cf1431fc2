/**
 * How the console's own style sheets display an element: the properties that a page without a layout needs, to know the
 * visible parts and where a line of text ends.
 */
interface Rule {
  readonly selector: string;
  /** A class alone, which every element with the class fits. */
  readonly isPlain: boolean;
  /** Pixels of the window; undefined for any. */
  readonly mostWidth: number | undefined;
  readonly value: string;
}

type Property = "display" | "visibility";

const SHEETS: Readonly<Record<string, string>> = import.meta.glob("../../src/**/*.module.css", {
  query: "?inline",
  import: "default",
  eager: true,
});
const REM_PX = 16;
const BLOCKS = new Set(
  `ADDRESS ARTICLE ASIDE BLOCKQUOTE BODY DD DETAILS DIALOG DIV DL DT FIELDSET FIGURE FOOTER FORM H1 H2 H3 H4 HEADER HR
  HTML LEGEND LI MAIN NAV OL P PRE SECTION SUMMARY UL`.split(/\s+/),
);
const HIDDEN = new Set(["HEAD", "SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "TITLE", "LINK", "META", "DATALIST"]);
const TABLES = new Map([
  ["TABLE", "table"],
  ["THEAD", "table-row-group"],
  ["TBODY", "table-row-group"],
  ["TR", "table-row"],
  ["TD", "table-cell"],
  ["TH", "table-cell"],
]);

const SHEET = [...new Set(Object.values(SHEETS))].join("\n").replace(/\/\*.*?\*\//gs, "");
const RULES = { display: indexed("display"), visibility: indexed("visibility") };

/** By the class or else the tag that an element has to have; each once, as a sheet stands in all that compose of it. */
function indexed(property: Property): ReadonlyMap<string, readonly (readonly [number, Rule])[]> {
  const rules = rulesOf(SHEET, property, undefined);
  const lastOf = new Map(rules.map((rule, index) => [JSON.stringify(rule), index]));
  const once = [...rules.entries()].filter(([index, rule]) => lastOf.get(JSON.stringify(rule)) === index);
  return Map.groupBy(once, ([, { selector }]) => {
    const [, name] = /(\.[\w-]+)[^ .]*$/.exec(selector) ?? /(?:^|[\s>~+])([\w*]+)[^\s>~+]*$/.exec(selector) ?? [];
    if (name === undefined) throw new Error(`no class or tag ends ${selector}`);
    return name;
  });
}

/** Rules of a property, of a sheet or of a block of it. */
function rulesOf(sheet: string, property: Property, mostWidth: number | undefined): Rule[] {
  const rules: Rule[] = [];
  const ofProperty = new RegExp(`(?:^|[;\\s])${property}:\\s*([\\w-]+)`);
  for (const [, head = "", body = ""] of sheet.matchAll(/([^{}]+)\{((?:[^{}]|\{[^{}]*\})*)\}/g)) {
    const [, rem] = /^@media \((?:max-width:|width <=) ?([\d.]+)rem\)/.exec(head.trim()) ?? [];
    if (rem !== undefined) rules.push(...rulesOf(body, property, Number(rem) * REM_PX));
    if (head.trim().startsWith("@")) continue;
    const [, value] = ofProperty.exec(body) ?? [];
    if (value === undefined) continue;
    for (const selector of selectorsOf(head)) {
      rules.push({ selector, isPlain: /^\.[\w-]+$/.test(selector), mostWidth, value });
    }
  }
  return rules;
}

/** Of a list of them; one may have lists of its own in brackets. */
function selectorsOf(head: string): readonly string[] {
  let depth = 0;
  const parts = [...head].map((each) => {
    depth += each === "(" ? 1 : each === ")" ? -1 : 0;
    return each === "," && depth === 0 ? "\n" : each;
  });
  return parts
    .join("")
    .split("\n")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** A selector that begins with a class fits only within an element of that class: few elements need the whole match. */
function mayFit(element: Element, selector: string): boolean {
  const [, name] = /^\.([\w-]+) /.exec(selector) ?? [];
  if (name === undefined) return true;
  if (selector.startsWith(`.${name} > `)) return element.parentElement?.classList.contains(name) ?? false;
  return element.closest(`.${name}`) !== null;
}

/** The last rule that fits, as if none weighed more than another. */
function ruled(element: Element, property: Property): string | undefined {
  const width = element.ownerDocument.defaultView?.innerWidth ?? 0;
  const classes = (element.getAttribute("class") ?? "").split(/\s+/).map((each) => `.${each}`);
  let [last, found]: [number, string | undefined] = [-1, undefined];
  for (const name of ["*", element.localName, ...classes]) {
    for (const [at, { selector, isPlain, mostWidth, value }] of RULES[property].get(name) ?? []) {
      if (at < last || (mostWidth !== undefined && width > mostWidth)) continue;
      if (isPlain || (mayFit(element, selector) && element.matches(selector))) [last, found] = [at, value];
    }
  }
  return found;
}

/** The element's own style, which few elements have. */
function inlineOf(element: Element, property: Property): string {
  return element.hasAttribute("style") ? ((element as HTMLElement).style?.[property] ?? "") : "";
}

/** Of elements, for as long as the document stays as it is. */
const known = {
  display: new Map<Element, string>(),
  visibility: new Map<Element, string>(),
  isDisplayed: new Map<Element, boolean>(),
};
let changes = (): number => 0;
let knownAt = 0;

/** `count`: goes up with each change of the document or its width. */
export function countChanges(count: () => number): void {
  changes = count;
}

function remembered<Answer>(memory: Map<Element, Answer>, element: Element, ask: (element: Element) => Answer): Answer {
  const now = changes();
  if (now !== knownAt) {
    for (const each of Object.values(known)) each.clear();
    knownAt = now;
  }
  const before = memory.get(element);
  if (before !== undefined) return before;
  const answer = ask(element);
  memory.set(element, answer);
  return answer;
}

export function displayOf(element: Element): string {
  return remembered(known.display, element, findDisplay);
}

function findDisplay(element: Element): string {
  if (HIDDEN.has(element.tagName)) return "none";
  const inline = inlineOf(element, "display");
  if (inline !== "") return inline;
  const byRule = ruled(element, "display");
  if (byRule !== undefined) return byRule;
  if (element.hasAttribute("hidden") || (element.tagName === "INPUT" && element.getAttribute("type") === "hidden")) {
    return "none";
  }
  if (BLOCKS.has(element.tagName)) return "block";
  return TABLES.get(element.tagName) ?? "inline";
}

/** Of the element itself; it is handed down from its parents. */
export function visibilityOf(element: Element): string {
  return remembered(known.visibility, element, (each) => {
    const its = inlineOf(each, "visibility") || ruled(each, "visibility");
    return its ?? (each.parentElement === null ? "visible" : visibilityOf(each.parentElement));
  });
}

/** A closed `details` shows its summary alone. */
export function isFolded(element: Element): boolean {
  const parent = element.parentElement;
  return parent?.tagName === "DETAILS" && !parent.hasAttribute("open") && element.tagName !== "SUMMARY";
}

/** Whether it takes a place on the page. */
export function isDisplayed(element: Element): boolean {
  return remembered(known.isDisplayed, element, (each) => {
    if (displayOf(each) === "none" || isFolded(each)) return false;
    return each.parentElement === null || isDisplayed(each.parentElement);
  });
}

/** The text as a browser has it on the page: lines end where blocks do, and blanks are one. */
export function innerTextOf(element: Element): string {
  if (!isDisplayed(element)) return element.textContent ?? "";
  let text = "";
  let breaks = 0;
  const end = (least: number): void => {
    if (text !== "") breaks = Math.max(breaks, least);
  };
  const say = (words: string): void => {
    if (words === "") return;
    if (breaks > 0) text = `${text.replace(/ $/, "")}${"\n".repeat(breaks)}`;
    const isPast = breaks === 0 && !/[\s]$/.test(text) && text !== "";
    text += isPast ? words : words.replace(/^ /, "");
    breaks = 0;
  };
  const walk = (node: Node, isPre: boolean): void => {
    if (node.nodeType === 3) {
      const words = node.textContent ?? "";
      if (isPre) {
        if (breaks > 0 && text !== "") text = text.replace(/ $/, "") + "\n".repeat(breaks);
        breaks = 0;
        text += words;
      } else if (/\S/.test(words)) {
        say(words.replace(/\s+/g, " "));
      } else if (words !== "" && breaks === 0) say(" ");
      return;
    }
    if (node.nodeType !== 1) return;
    const each = node as Element;
    const display = displayOf(each);
    if (display === "none" || isFolded(each)) return;
    if (each.tagName === "BR") {
      text = `${text.replace(/ $/, "")}\n`;
      return;
    }
    const within = each.parentElement === null ? "" : displayOf(each.parentElement);
    const isBlock =
      /^(?:block|grid|flex|list-item|table|table-row|table-row-group)$/.test(display) || /(?:grid|flex)$/.test(within);
    const least = each.tagName === "P" ? 2 : isBlock ? 1 : 0;
    if (each !== element) end(least);
    const isHidden = visibilityOf(each) === "hidden";
    for (const child of each.childNodes)
      if (!isHidden || child.nodeType === 1) walk(child, isPre || each.tagName === "PRE");
    if (each !== element) end(least);
    if (display === "table-cell" && each.nextElementSibling !== null) {
      text = `${text.replace(/ $/, "")}\t`;
      breaks = 0;
    }
  };
  walk(element, element.closest("pre") !== null);
  return element.closest("pre") === null ? text.trim() : text;
}
