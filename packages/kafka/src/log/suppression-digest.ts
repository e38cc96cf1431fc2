/** The digest by which a suppressed user's key is held. */
import { hash } from "node:crypto";
import type { DigestOf } from "@posthaste/core/deletion/digest-set";

/** SHA-256. The set holds its first 128 bits. */
export const suppressionDigest: DigestOf = (key) => hash("sha256", key, "binary");
