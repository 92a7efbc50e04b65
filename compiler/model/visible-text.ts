/**
 * Characters that readers do not see, or see as something else: control and format characters (zero width,
 * bidirectional, tags), unassigned and private ones, lone surrogates, line and paragraph separators, spaces other than
 * the plain one, variation selectors, and letters and marks without a glyph. Emoji are visible, whatever they consist
 * of.
 */
const EMOJI_OR_HIDDEN =
  /\p{RGI_Emoji}|[\p{C}\p{Zl}\p{Zp}\u{a0}\u{115f}\u{1160}\u{1680}\u{2000}-\u{200a}\u{202f}\u{205f}\u{2800}\u{3000}\u{3164}\u{ffa0}]|\u{34f}|\u{17b4}|\u{17b5}|[\u{180b}-\u{180f}]|[\u{fe00}-\u{fe0f}]|[\u{e0100}-\u{e01ef}]/gv;

const EMOJI = /^\p{RGI_Emoji}$/v;

/** Line breaks and tabs are visible, and multi-line strings are common. */
const LAYOUT = /[\n\r\t]+/g;

/** Formats a string on one line with invisible characters escaped: `a\u{200b}b`. */
export function visibleText(text: string): string {
  return text
    .replace(LAYOUT, " ")
    .replace(EMOJI_OR_HIDDEN, (found) => (EMOJI.test(found) ? found : escaped(found)));
}

/** Counts the invisible characters of a string. */
export function hiddenCharacters(text: string): number {
  const found = text.replace(LAYOUT, " ").match(EMOJI_OR_HIDDEN) ?? [];
  return found.filter((each) => !EMOJI.test(each)).length;
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
