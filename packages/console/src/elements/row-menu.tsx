/** The rare actions of a row, behind three dots. */
import { Ellipsis } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import elements from "./elements.module.css";
import styles from "./menu.module.css";

export interface RowAction {
  readonly words: string;
  readonly onAction: () => void;
  /** Why it cannot be done now; null where it can. */
  readonly unavailable: string | null;
}

export interface RowMenuProps {
  /** In words that do without the row: "Actions for message-1". */
  readonly label: string;
  readonly actions: readonly RowAction[];
}

export function RowMenu({ label, actions }: RowMenuProps) {
  return (
    <MenuTrigger>
      <Button className={elements["copyButton"] ?? ""} aria-label={label} data-resend="">
        <Ellipsis size={16} aria-hidden />
      </Button>
      <Popover className={styles["popover"] ?? ""} placement="bottom end">
        <Menu className={styles["menu"] ?? ""} aria-label={label}>
          {actions.map(({ words, onAction, unavailable }) => (
            <MenuItem
              key={words}
              className={styles["item"] ?? ""}
              isDisabled={unavailable !== null}
              onAction={onAction}
              textValue={words}
            >
              {unavailable === null ? words : `${words}: ${unavailable}`}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
