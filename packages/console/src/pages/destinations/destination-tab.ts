/** Which part of a destination is shown; it stands in the address. */
import type { FilterField } from "../../listing/filter.ts";

export const TABS = [
  ["health", "Health"],
  ["deliveries", "Deliveries"],
  ["settings", "Settings"],
  ["secret", "Secret"],
  ["changes", "Changes"],
] as const;

export const TAB_FIELD: readonly FilterField<"tab">[] = [{ key: "tab", label: "Tab", choices: TABS }];
