// Operations and flags of a compiled pattern's instructions, as re2js defines them.

/** Two branches, the preferred one first. */
export const ALTERNATIVE = 1;
/** Two branches, one of which is a match. */
export const ALTERNATIVE_MATCH = 2;
/** Start or end of a group. */
export const GROUP_EDGE = 3;
/** Condition on both neighbors of a place: the flags of its `arg`. */
export const ASSERTION = 4;
/** Dead end: nothing matches from here. */
export const DEAD_END = 5;
/** A match ends here. */
export const MATCH = 6;
/** Continues without a character. */
export const PASSAGE = 7;
/** A character in ranges. This operation and all after it consume one. */
export const RUNE = 8;
/** A single character. */
export const ONE_RUNE = 9;
/** Any character. */
export const ANY_RUNE = 10;
/** Any character except a line feed. */
export const ANY_BUT_LINE_FEED = 11;

/** Flag of a character's `arg`: both cases. */
export const FOLDS_CASE = 1;

/** Flag of an assertion's `arg`: start of a line. */
export const LINE_BEGINS = 1;
/** End of a line. */
export const LINE_ENDS = 2;
/** Start of the text. */
export const TEXT_BEGINS = 4;
/** End of the text. */
export const TEXT_ENDS = 8;
/** Start or end of a word. */
export const WORD_BOUNDARY = 16;
/** Not at the start or end of a word. */
export const NO_WORD_BOUNDARY = 32;
