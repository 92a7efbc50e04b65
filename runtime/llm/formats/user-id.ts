import { createHash } from "node:crypto";

/**
 * Returns the id of a user within the limit of a provider. A longer one becomes its SHA-256 in hexadecimal (64 characters),
 * which still identifies the user for abuse detection.
 */
export function userId(user: string | undefined, maxLength: number): string | undefined {
  if (user === undefined || user.length <= maxLength) return user;
  return createHash("sha256").update(user).digest("hex");
}
