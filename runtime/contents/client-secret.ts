/** Reads the secret of an OAuth client, without the whitespace around it. Throws an Error if there is none. */
export function readClientSecret(text: string): string {
  const secret = text.trim();
  if (secret === "") throw new Error("is empty");
  return secret;
}
