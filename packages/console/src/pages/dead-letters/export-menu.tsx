/** Downloads the dead letters of a filter with their bodies. */
import { ChevronDown } from "lucide-react";
import { Dialog, DialogTrigger, Popover } from "react-aria-components";
import type { ListedFilterKey } from "../../dead-letters/dead-letter-filter.ts";
import { Button } from "../../elements/button.tsx";
import menus from "../../elements/menu.module.css";
import { type Filter, searchOf } from "../../listing/filter.ts";
import styles from "./dead-letters-page.module.css";

const FORMATS = [
  ["csv", "CSV"],
  ["ndjson", "NDJSON"],
] as const;

export function ExportMenu({ filter: { open, ...filter } }: { readonly filter: Filter<ListedFilterKey> }) {
  if (open !== undefined) {
    return <Button unavailable="an export has dead letters of every state: remove the filter State">Export</Button>;
  }
  return (
    <DialogTrigger>
      <Button>
        Export <ChevronDown size={14} aria-hidden />
      </Button>
      <Popover className={menus["popover"] ?? ""} placement="bottom end">
        <Dialog aria-label="Export" className={styles["place"] ?? ""}>
          <p>Every dead letter of the filter, with its body:</p>
          {FORMATS.map(([format, words]) => (
            <a
              key={format}
              href={`/v1/dead-letters/export${searchOf({ ...filter, format })}`}
              download={`dead-letters.${format}`}
            >
              {words}
            </a>
          ))}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
