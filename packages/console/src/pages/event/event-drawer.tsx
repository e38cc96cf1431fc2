/** An event over the list that it was opened from. */
import { X } from "lucide-react";
import { useRef } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Button } from "../../elements/button.tsx";
import styles from "./event-drawer.module.css";
import { EventTitle } from "./event-title.tsx";
import { EventView } from "./event-view.tsx";

export interface EventDrawerProps {
  readonly messageId: string;
  readonly onClose: () => void;
}

export function EventDrawer({ messageId, onClose }: EventDrawerProps) {
  // It goes a moment after it was told to.
  const isClosing = useRef(false);
  const close = (): void => {
    if (!isClosing.current) onClose();
    isClosing.current = true;
  };
  return (
    <ModalOverlay
      className={styles["overlay"] ?? ""}
      isOpen
      isDismissable
      onOpenChange={(opens) => {
        if (!opens) close();
      }}
    >
      <Modal className={styles["drawer"] ?? ""}>
        <Dialog className={styles["content"] ?? ""}>
          <div className={styles["head"]}>
            <Heading slot="title" level={2} className={styles["title"] ?? ""}>
              <EventTitle messageId={messageId} />
            </Heading>
            <Button aria-label="Close" look="quiet" onPress={close}>
              <X size={18} aria-hidden />
            </Button>
          </div>
          <EventView messageId={messageId} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
