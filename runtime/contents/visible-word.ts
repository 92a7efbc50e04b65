/** Reads an id or a secret of visible ASCII characters and trims it. Throws an Error without the content. */
export function visibleWord(text: string): string {
  const word = text.trim();
  if (!/^[\x21-\x7e]+$/.test(word)) throw new Error("is not one word of visible ASCII characters");
  return word;
}
