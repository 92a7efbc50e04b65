/**
 * Reads a credential that is sent in a header, a cookie or a query parameter, and trims it. Throws an Error without the
 * content.
 */
export function readSentKey(text: string): string {
  const key = text.trim();
  if (!/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(key))
    throw new Error("is not one line of visible ASCII characters");
  return key;
}
