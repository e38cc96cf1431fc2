import { Ellipsis } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import styles from "./frame.module.css";
import { PLACES } from "./places.ts";

/** On a narrow screen: the pages that have no place in the bar. */
export function MoreMenu() {
  return (
    <MenuTrigger>
      <Button className={`${styles["place"]} ${styles["moreButton"]}`}>
        <Ellipsis size={18} aria-hidden />
        <span>More</span>
      </Button>
      <Popover className={styles["popover"] ?? ""} placement="top end">
        <Menu className={styles["menu"] ?? ""} aria-label="More pages">
          {PLACES.filter(({ isRare }) => isRare).map(({ path, name }) => (
            <MenuItem key={path} id={path} href={path} className={styles["menuItem"] ?? ""}>
              {name}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
