import { ActionLink, type ActionLinkProps } from "../elements/action-link.tsx";
import { useMissingScope } from "./session.ts";

/** The way to connect a webhook; it says why where the caller may not. */
export function ConnectLink(props: Pick<ActionLinkProps, "look" | "autoFocus">) {
  return (
    <ActionLink {...props} href="/connect" unavailable={useMissingScope("write")}>
      Connect a webhook
    </ActionLink>
  );
}
