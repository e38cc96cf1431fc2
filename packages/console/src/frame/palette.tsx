/** One field that leads everywhere: to an event by its message id, and to every page. */
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import {
  Autocomplete,
  Dialog,
  Input,
  Keyboard,
  Menu,
  MenuItem,
  Modal,
  ModalOverlay,
  SearchField,
  Text,
} from "react-aria-components";
import elements from "../elements/elements.module.css";
import styles from "./frame.module.css";
import { pastedId } from "./pasted-id.ts";
import { PLACES } from "./places.ts";

export interface PaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function Palette({ isOpen, onClose }: PaletteProps) {
  const router = useRouter();
  const [typed, setTyped] = useState("");
  const close = (): void => {
    setTyped("");
    onClose();
  };
  const goTo = (path: string): void => {
    close();
    router.history.push(path);
  };
  const id = pastedId(typed);
  const words = typed.trim().toLowerCase();
  const places = PLACES.filter(({ name }) => name.toLowerCase().includes(words));
  /** For Enter right after a paste, when the list has marked nothing yet; else the marked line goes by itself. */
  const goToFirst = (): void => {
    if (document.querySelector("[role=menuitem][data-focused]") !== null) return;
    const first = id === null ? places[0]?.path : `/events/${encodeURIComponent(id)}`;
    if (first !== undefined) goTo(first);
  };
  return (
    <ModalOverlay
      className={elements["overlay"] ?? ""}
      isDismissable
      isOpen={isOpen}
      onOpenChange={(opens) => {
        if (!opens) close();
      }}
    >
      <Modal className={elements["modal"] ?? ""}>
        <Dialog className={styles["palette"] ?? ""} aria-label="Search">
          <Autocomplete inputValue={typed} onInputChange={setTyped}>
            <SearchField aria-label="A message id, or a page" autoFocus onSubmit={goToFirst}>
              <Input className={elements["input"] ?? ""} placeholder="Paste a message id, or type a page's name" />
            </SearchField>
            <Menu
              className={styles["menu"] ?? ""}
              aria-label="What was found"
              renderEmptyState={() => <p className={styles["none"]}>No page has this name.</p>}
            >
              {id !== null && (
                <MenuItem
                  id="event"
                  textValue={`Why did it not arrive? ${id}`}
                  className={styles["menuItem"] ?? ""}
                  onAction={() => goTo(`/events/${encodeURIComponent(id)}`)}
                >
                  <Text slot="label">
                    Why did it not arrive? <code className={styles["id"]}>{id}</code>
                  </Text>
                </MenuItem>
              )}
              {places.map(({ path, name, key }) => (
                <MenuItem
                  key={path}
                  id={path}
                  textValue={name}
                  className={styles["menuItem"] ?? ""}
                  onAction={() => goTo(path)}
                >
                  <Text slot="label">{name}</Text>
                  <Keyboard>g {key}</Keyboard>
                </MenuItem>
              ))}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
