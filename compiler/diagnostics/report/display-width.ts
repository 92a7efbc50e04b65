/** A character of a terminal line: a grapheme and its width in columns. */
export interface Cell {
  readonly text: string;
  readonly width: number;
}

const TAB = 4;

/** Escapes a part of a configuration for a message: characters that could control a terminal or reorder a line. */
export function printable(text: string): string {
  return text.replace(
    UNPRINTABLE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Control characters, and characters that reorder the text around them. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Splits a line as a terminal shows it: tabs as spaces, control characters as pictures, wide characters as two columns.
 */
export function cells(line: string): readonly { readonly offset: number; readonly cell: Cell }[] {
  let column = 0;
  return graphemes(line).map(({ segment, index }) => {
    const cell = cellOf(segment, column);
    column += cell.width;
    return { offset: index, cell };
  });
}

/**
 * Splits a line into graphemes. Loading the segmenter takes longer than the rest of a report, so ASCII lines avoid it.
 */
function graphemes(line: string): readonly { readonly segment: string; readonly index: number }[] {
  if (!ASCII.test(line)) return Array.from(new Intl.Segmenter().segment(line));
  return Array.from(line, (segment, index) => ({ segment, index }));
}

/** Line breaks are excluded: two of them can be one grapheme. */
const ASCII = /^[\t\x20-\x7e]*$/;

function cellOf(segment: string, column: number): Cell {
  const code = segment.codePointAt(0) ?? 0;
  if (code === 9) {
    const width = TAB - (column % TAB);
    return { text: " ".repeat(width), width };
  }
  // Control characters could move the cursor or color the terminal; direction marks could reorder the line.
  if (code < 32) return { text: String.fromCodePoint(0x2400 + code), width: 1 };
  if (isControl(code) || isDirectionMark(code)) return { text: "\ufffd", width: 1 };
  return { text: segment, width: isWide(segment, code) ? 2 : 1 };
}

function isControl(code: number): boolean {
  return code < 32 || (code >= 127 && code < 160);
}

/** Whether a character reorders the text around it (CVE-2021-42574). */
function isDirectionMark(code: number): boolean {
  return (
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069) ||
    code === 0x200e ||
    code === 0x200f ||
    code === 0x061c
  );
}

/** Whether a grapheme is East Asian Wide or Fullwidth, or an emoji (an approximation of Unicode TR11). */
function isWide(segment: string, code: number): boolean {
  if (code < 0x1100) return false;
  return (
    code <= 0x115f ||
    (code >= 0x2e80 && code <= 0x303e) ||
    (code >= 0x3041 && code <= 0xa4cf) ||
    (code >= 0xa960 && code <= 0xa97f) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff01 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x20000 && code <= 0x3fffd) ||
    /\p{Emoji_Presentation}|\ufe0f/u.test(segment)
  );
}
