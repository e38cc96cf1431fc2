import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import styles from "./elements.module.css";

export interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  /** Absent where it cannot be put away. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
  /** The actions, as buttons; the last one is the dialog's purpose. */
  readonly actions?: ReactNode;
}

/** A question over the page; the focus is in it, and goes back when it closes. */
export function Dialog({ title, isOpen, onClose, children, actions }: DialogProps) {
  return (
    <ModalOverlay
      className={styles["overlay"] ?? ""}
      isOpen={isOpen}
      isDismissable={onClose !== undefined}
      isKeyboardDismissDisabled={onClose === undefined}
      onOpenChange={(opens) => {
        if (!opens) onClose?.();
      }}
    >
      <Modal className={styles["modal"] ?? ""}>
        <AriaDialog className={styles["dialog"] ?? ""}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
          {actions !== undefined && <div className={styles["actions"]}>{actions}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
