/** Something outside of this program lacks or is in the way; the message is for the person at the terminal. */
export class StackError extends Error {
  override readonly name = "StackError";
}
