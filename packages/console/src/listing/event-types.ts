/** The types of events, for what filters by them. */
export const EVENT_TYPES = ["track", "identify", "page", "screen", "group", "alias", "delete"] as const;
