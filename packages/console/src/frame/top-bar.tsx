import { useQueryClient } from "@tanstack/react-query";
import { CircleHelp, type LucideIcon, Moon, Search, Sun, SunMoon, UserRound } from "lucide-react";
import {
  Button as AriaButton,
  Button,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  type Selection,
} from "react-aria-components";
import { searchOf } from "../listing/filter.ts";
import { LiveDot } from "../live/live-dot.tsx";
import { chooseUtc, isUtcChosen, machineZone, useZone } from "../moment/zone.ts";
import { signOut, useSession } from "../session/session.ts";
import { chooseTheme, THEME_WORDS, THEMES, type Theme, useTheme } from "../theme/theme-choice.ts";
import styles from "./frame.module.css";

const ICONS: Readonly<Record<Theme, LucideIcon>> = { system: SunMoon, light: Sun, dark: Moon };

export interface TopBarProps {
  readonly onSearch: () => void;
  readonly onHelp: () => void;
}

export function TopBar({ onSearch, onHelp }: TopBarProps) {
  const zone = useZone();
  return (
    <header className={styles["top"]}>
      <AriaButton className={styles["search"] ?? ""} onPress={onSearch}>
        <Search size={16} aria-hidden />
        <span className={styles["searchWords"]}>Search, or paste a message id</span>
        <kbd aria-hidden>/</kbd>
      </AriaButton>
      <LiveDot />
      <span className={styles["zone"]}>{zone}</span>
      <ThemeMenu />
      <AriaButton className={styles["icon"] ?? ""} aria-label="Keys" onPress={onHelp}>
        <CircleHelp size={18} aria-hidden />
      </AriaButton>
      <OwnMenu />
    </header>
  );
}

/** Of the person: the zone of times, others, out. */
function OwnMenu() {
  const client = useQueryClient();
  const { name, scopes } = useSession();
  useZone();
  return (
    <MenuTrigger>
      <AriaButton className={styles["own"] ?? ""} aria-label={`You: ${name}`}>
        <UserRound size={18} aria-hidden />
        <span className={styles["name"]}>{name}</span>
      </AriaButton>
      <Popover className={styles["popover"] ?? ""} placement="bottom end">
        <Menu className={styles["menu"] ?? ""} aria-label={`You: ${name}`}>
          <MenuSection
            selectionMode="single"
            disallowEmptySelection
            selectedKeys={[isUtcChosen() ? "utc" : "local"]}
            onSelectionChange={(keys) => {
              chooseUtc(firstOf(keys) === "utc");
            }}
          >
            <Header className={styles["menuHead"] ?? ""}>Times</Header>
            <MenuItem id="local" className={styles["menuItem"] ?? ""}>
              Local: {machineZone()}
            </MenuItem>
            <MenuItem id="utc" className={styles["menuItem"] ?? ""}>
              UTC
            </MenuItem>
          </MenuSection>
          <MenuSection>
            <Header className={styles["menuHead"] ?? ""}>May {scopes.join(", ") || "nothing"}</Header>
            {scopes.includes("write") && (
              <MenuItem id="invite" href={`/access${searchOf({ make: "token" })}`} className={styles["menuItem"] ?? ""}>
                Invite somebody
              </MenuItem>
            )}
            <MenuItem id="terminal" href={`/access${searchOf({ make: "own" })}`} className={styles["menuItem"] ?? ""}>
              Use it in the terminal
            </MenuItem>
            <MenuItem id="out" className={styles["menuItem"] ?? ""} onAction={() => void signOut(client)}>
              Sign out
            </MenuItem>
          </MenuSection>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function firstOf(keys: Selection): unknown {
  return keys === "all" ? undefined : [...keys][0];
}

/** Light, dark, or as the machine has it. */
function ThemeMenu() {
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
