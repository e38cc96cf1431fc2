import { Dialog } from "../elements/dialog.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** Over the page, which stays as it is. */
export function ExpiredDialog({ name }: { readonly name: string }) {
  return (
    <Dialog title="Your session is over" isOpen>
      <p>You were signed in as {name}. Sign in again: nothing on this page is lost.</p>
      <SignInForm />
    </Dialog>
  );
}
