import type { FilterField } from "../../listing/filter.ts";

/** The object that is being made on the page, so that a link can lead there. */
export const MADE_TOKEN: readonly FilterField<"make">[] = [
  {
    ...{ key: "make", label: "Make" },
    choices: [
      ["token", "for somebody else"],
      ["own", "for one's own terminal"],
    ],
  },
];
