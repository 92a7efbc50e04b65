/** Reads the secret of an OAuth client and trims it. Throws an Error if it is empty. */
export function readClientSecret(text: string): string {
  const secret = text.trim();
  if (secret === "") throw new Error("is empty");
  return secret;
}
