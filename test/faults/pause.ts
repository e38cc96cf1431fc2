/** How long a fault lasts; never a wait for something that can be looked at (`eventually`). */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
