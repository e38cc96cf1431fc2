/** Whether it was copied: a browser keeps the clipboard from pages of plain http that another machine serves. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
