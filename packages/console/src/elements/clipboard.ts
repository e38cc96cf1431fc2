/**
 * Whether it was copied. A browser keeps its clipboard from pages of plain http that another machine serves; there the
 * older command copies, as long as somebody has just pressed something.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

function copyByCommand(text: string): boolean {
  let isWritten = false;
  const onCopy = (event: ClipboardEvent): void => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isWritten = event.clipboardData !== null;
  };
  document.addEventListener("copy", onCopy, { capture: true });
  try {
    return document.execCommand("copy") && isWritten;
  } finally {
    document.removeEventListener("copy", onCopy, { capture: true });
  }
}
