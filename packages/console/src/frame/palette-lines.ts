/** The lines that fit the text typed into the palette, the likeliest first. */
import { searchOf } from "../listing/filter.ts";
import type { PaletteLine } from "./commands.ts";
import { pastedId } from "./pasted-id.ts";
import { PLACES, type Place } from "./places.ts";

/** Of a thousand destinations no more are looked through by eye. */
const MOST_NAMED = 8;
/** Longer than any user id or event's name that is looked for; a longer text was pasted by mistake. */
const MOST_SEARCHED = 1000;

export interface Named {
  readonly id: string;
  readonly name: string;
}

/** Whether control knows the text as each of these; null while that is not known. */
export interface TextFinds {
  readonly messageId: boolean | null;
  readonly userId: boolean | null;
  readonly event: boolean | null;
}

export interface PaletteSource {
  readonly typed: string;
  readonly finds: TextFinds;
  readonly destinations: readonly Named[];
  readonly sources: readonly Named[];
  readonly commands: readonly PaletteLine[];
}

export interface PaletteSection {
  readonly name: string;
  readonly lines: readonly PaletteLine[];
}

/**
 * The kinds with a line. A text with a digit is likelier an id than a name; any other is one where nothing is named so.
 * A user or an event's name that control knows stands before searches that may find nothing.
 */
export function findSections(source: PaletteSource): readonly PaletteSection[] {
  const { typed, finds, destinations, sources, commands } = source;
  const id = pastedId(typed);
  const fits = fitting(typed);
  const isTyped = typed.trim() !== "";
  const named = [
    { name: "Destinations", lines: isTyped ? namedLines(destinations, "destinations", fits) : [] },
    { name: "Sources", lines: isTyped ? namedLines(sources, "sources", fits) : [] },
    { name: "Pages", lines: PLACES.filter(fits).map(placeLine) },
    { name: "Commands", lines: commands.filter(fits) },
  ];
  const events = { name: "Events", lines: id === null || finds.messageId === false ? [] : [eventLine(id)] };
  const known = { name: "Found", lines: searchLines(typed.trim(), ({ by }) => finds[by] === true) };
  const searches = { name: "Search", lines: searchLines(typed.trim(), ({ by }) => finds[by] === null) };
  const asId = id !== null && /\d/.test(id);
  const ordered = asId ? [events, known, ...named, searches] : [...named, known, events, searches];
  return ordered.filter(({ lines }) => lines.length > 0);
}

/** Each typed word stands somewhere in the name, or the whole text is the id. */
function fitting(typed: string): (line: { readonly name: string; readonly id?: string }) => boolean {
  const words = typed.toLowerCase().split(/\s+/);
  return ({ name, id }) => id === typed.trim() || words.every((word) => name.toLowerCase().includes(word));
}

function namedLines(all: readonly Named[], path: string, fits: (named: Named) => boolean): readonly PaletteLine[] {
  return all
    .filter(fits)
    .slice(0, MOST_NAMED)
    .map(({ id, name }) => ({ id, name, does: { href: `/${path}/${id}` } }));
}

function placeLine({ path, name, key }: Pick<Place, "path" | "name"> & Partial<Pick<Place, "key">>): PaletteLine {
  return { id: path, name, ...(key === undefined ? {} : { keys: `g ${key}` }), does: { href: path } };
}

function eventLine(id: string): PaletteLine {
  const href = `/events/${encodeURIComponent(id)}`;
  return { id: href, name: "Why did it not arrive?", code: id, does: { href } };
}

const SEARCHES = [
  { by: "userId", name: "Events of the user" },
  { by: "event", name: "Events with the name" },
] as const;

/** For a search without a message id: the events of a user, and the events of a name. */
function searchLines(text: string, isWanted: (search: (typeof SEARCHES)[number]) => boolean): readonly PaletteLine[] {
  if (text === "" || text.length > MOST_SEARCHED) return [];
  return SEARCHES.filter(isWanted).map(({ by, name }) => ({
    ...{ id: name, name, code: text },
    does: { href: `/events${searchOf({ [by]: text })}` },
  }));
}
