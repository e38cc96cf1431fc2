/** Says that something outside of this program is missing or in the way. Its message is for people at the terminal. */
export class StackError extends Error {
  override readonly name = "StackError";
}
