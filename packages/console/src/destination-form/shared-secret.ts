const SECRET_BYTES = 32;

/** 256 random bits in hex, of the browser's own source. */
export function createSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
