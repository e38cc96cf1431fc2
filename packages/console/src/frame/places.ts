/** The pages that the frame leads to, in the order of the rail. */
import { type LucideIcon, Route } from "lucide-react";

export interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: LucideIcon;
  /** After `g`. */
  readonly key: string;
}

export const PLACES: readonly Place[] = [{ path: "/events", name: "Events", icon: Route, key: "e" }];

/** The page that stands at `/`. */
export const FIRST_PLACE = "/events";
