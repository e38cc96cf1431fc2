/** The pages that the frame leads to, in the order of the rail. */
import {
  Archive,
  Gauge,
  History,
  Inbox,
  KeyRound,
  type LucideIcon,
  Radio,
  ScrollText,
  Send,
  Users,
  UserX,
  Webhook,
} from "lucide-react";

export interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: LucideIcon;
  /** After `g`. */
  readonly key: string;
  /** On a narrow screen it is under "More". */
  readonly isRare: boolean;
}

export const PLACES: readonly Place[] = [
  { path: "/overview", name: "Overview", icon: Gauge, key: "o", isRare: false },
  { path: "/sources", name: "Sources", icon: Radio, key: "s", isRare: true },
  { path: "/destinations", name: "Destinations", icon: Webhook, key: "d", isRare: false },
  { path: "/events", name: "Events", icon: ScrollText, key: "v", isRare: true },
  { path: "/deliveries", name: "Deliveries", icon: Send, key: "l", isRare: false },
  { path: "/dead-letters", name: "Dead letters", icon: Archive, key: "x", isRare: false },
  { path: "/audiences", name: "Audiences", icon: Users, key: "u", isRare: true },
  { path: "/deletions", name: "Deletions", icon: UserX, key: "e", isRare: true },
  { path: "/activity", name: "Activity", icon: History, key: "a", isRare: true },
  { path: "/test-receivers", name: "Test receivers", icon: Inbox, key: "r", isRare: true },
  { path: "/access", name: "Access", icon: KeyRound, key: "t", isRare: true },
];

/** The page that stands at `/`. */
export const FIRST_PLACE = "/overview";
