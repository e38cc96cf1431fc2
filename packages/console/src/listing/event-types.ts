/** The types of events, for filters by type. */
export const EVENT_TYPES = ["track", "identify", "page", "screen", "group", "alias", "delete"] as const;
