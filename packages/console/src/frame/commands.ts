/** The actions that are possible from anywhere, by name: the lines of the palette that are no pages. */
import { useQueryClient } from "@tanstack/react-query";
import { areLettersOn, switchLetters } from "../keys/keys.ts";
import { searchOf } from "../listing/filter.ts";
import { toggleLive, useLiveState } from "../live/live.ts";
import { chooseUtc, isUtcChosen, machineZone } from "../moment/zone.ts";
import { signOut, useSession } from "../session/session.ts";
import { chooseTheme, THEME_WORDS, THEMES, useTheme } from "../theme/theme-choice.ts";

/** A line of the palette: it leads somewhere, or does something. */
export interface PaletteLine {
  readonly id: string;
  readonly name: string;
  /** An id that stands behind its name. */
  readonly code?: string;
  /** The keys that do the same. */
  readonly keys?: string;
  readonly does: { readonly href: string } | (() => void);
}

/** The actions that change something now: the present choice is not among them. */
export function useCommands(onHelp: () => void): readonly PaletteLine[] {
  const client = useQueryClient();
  const { scopes } = useSession();
  const { state } = useLiveState();
  const chosen = useTheme();
  const [isUtc, areOn] = [isUtcChosen(), areLettersOn()];
  return [
    ...(scopes.includes("write") ? [led("Connect a webhook", "/connect"), led("New token", makeOf("token"))] : []),
    led("Use it in the terminal", makeOf("own")),
    done(state === "paused" ? "Go on with what comes live" : "Pause what comes live", toggleLive, "l"),
    ...THEMES.filter((theme) => theme !== chosen).map((theme) =>
      done(`Theme: ${THEME_WORDS[theme].toLowerCase()}`, () => chooseTheme(theme)),
    ),
    done(zoneWords(isUtc, machineZone()), () => chooseUtc(!isUtc)),
    done(`Keys of a single character: ${areOn ? "off" : "on"}`, () => switchLetters(!areOn)),
    done("All keys", onHelp, "?"),
    done("Sign out", () => void signOut(client)),
  ];
}

/** The times under the other zone, and the present ones: on a machine whose own zone is UTC the two look alike. */
function zoneWords(isUtc: boolean, local: string): string {
  return isUtc ? `Times: local, ${local} (now UTC)` : `Times: UTC (now local, ${local})`;
}

/** Where somebody is invited, or gets a token for the own terminal. */
function makeOf(make: "token" | "own"): string {
  return `/access${searchOf({ make })}`;
}

function led(name: string, href: string): PaletteLine {
  return { id: name, name, does: { href } };
}

function done(name: string, does: () => void, keys?: string): PaletteLine {
  return { id: name, name, does, ...(keys === undefined ? {} : { keys }) };
}
