/**
 * One field that leads everywhere: to an event by its message id, its user or its name, to everything with a name, to
 * every page and command.
 */
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from "react-aria-components";
import elements from "../elements/elements.module.css";
import { allDestinations, allSources } from "../names/names.ts";
import { type PaletteLine, useCommands } from "./commands.ts";
import styles from "./frame.module.css";
import { findSections } from "./palette-lines.ts";
import { useTextFinds } from "./text-finds.ts";

export interface PaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

export function Palette({ isOpen, onClose, onHelp }: PaletteProps) {
  return (
    <ModalOverlay
      className={elements["overlay"] ?? ""}
      isDismissable
      isOpen={isOpen}
      onOpenChange={(opens) => {
        if (!opens) onClose();
      }}
    >
      <Modal className={elements["modal"] ?? ""}>
        <Dialog className={styles["palette"] ?? ""} aria-label="Search">
          <Lines onClose={onClose} onHelp={onHelp} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Lines({ onClose, onHelp }: Omit<PaletteProps, "isOpen">) {
  const router = useRouter();
  const [typed, setTyped] = useState("");
  const { data: destinations = [] } = useQuery(allDestinations);
  const { data: sources = [] } = useQuery(allSources);
  const commands = useCommands(onHelp);
  const finds = useTextFinds(typed);
  const sections = findSections({ typed, finds, destinations, sources, commands });
  const follow = ({ does }: PaletteLine): void => {
    onClose();
    if (typeof does === "function") does();
    else router.history.push(does.href);
  };
  /** For Enter right after a paste, when the list has marked nothing yet; else the marked line goes by itself. */
  const followFirst = (): void => {
    if (document.querySelector("[role=menuitem][data-focused]") !== null) return;
    const first = sections[0]?.lines[0];
    if (first !== undefined) follow(first);
  };
  return (
    <Autocomplete inputValue={typed} onInputChange={setTyped}>
      <SearchField
        aria-label="A message id, a user id, a name, a page or a command"
        autoFocus
        onSubmit={followFirst}
        className={styles["asked"] ?? ""}
      >
        <Input
          className={elements["input"] ?? ""}
          placeholder="Paste a message id, or type a user id, a name or a command"
        />
      </SearchField>
      <Menu
        className={styles["menu"] ?? ""}
        aria-label="What was found"
        renderEmptyState={() => <p className={styles["none"]}>It is too long to be looked for.</p>}
      >
        {sections.map(({ name, lines }) => (
          <MenuSection key={name} id={name}>
            <Header className={styles["menuHead"] ?? ""}>{name}</Header>
            {lines.map((line) => (
              <MenuItem
                key={line.id}
                id={line.id}
                textValue={`${line.name} ${line.code ?? ""}`.trim()}
                className={styles["menuItem"] ?? ""}
                onAction={() => follow(line)}
              >
                <span>
                  {line.name} {line.code !== undefined && <code className={styles["id"]}>{line.code}</code>}
                </span>
                {line.keys !== undefined && <kbd>{line.keys}</kbd>}
              </MenuItem>
            ))}
          </MenuSection>
        ))}
      </Menu>
    </Autocomplete>
  );
}
