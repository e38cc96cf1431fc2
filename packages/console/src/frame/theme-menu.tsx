import { type LucideIcon, Moon, Sun, SunMoon } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { chooseTheme, THEME_WORDS, THEMES, type Theme, useTheme } from "../theme/theme-choice.ts";
import styles from "./frame.module.css";

const ICONS: Readonly<Record<Theme, LucideIcon>> = { system: SunMoon, light: Sun, dark: Moon };

/** Light, dark, or as the machine has it. */
export function ThemeMenu() {
  const chosen = useTheme();
  const Icon = ICONS[chosen];
  return (
    <MenuTrigger>
      <Button className={styles["icon"] ?? ""} aria-label={`Theme: ${THEME_WORDS[chosen].toLowerCase()}`}>
        <Icon size={18} aria-hidden />
      </Button>
      <Popover className={styles["popover"] ?? ""} placement="bottom end">
        <Menu
          className={styles["menu"] ?? ""}
          aria-label="Theme"
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[chosen]}
          onSelectionChange={(keys) => {
            chooseTheme(THEMES.find((theme) => keys !== "all" && keys.has(theme)) ?? "system");
          }}
        >
          {THEMES.map((theme) => (
            <MenuItem key={theme} id={theme} className={styles["menuItem"] ?? ""}>
              {THEME_WORDS[theme]}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
