/** Reads an id or a secret of visible ASCII characters, without the whitespace around it. Throws an Error without the text. */
export function visibleWord(text: string): string {
  const word = text.trim();
  if (!/^[\x21-\x7e]+$/.test(word)) throw new Error("is not one word of visible ASCII characters");
  return word;
}
