// What the numbers of a compiled pattern's instructions mean, as re2js gives them.

/** Two branches, the preferred one first. */
export const ALTERNATIVE = 1;
/** The same, where one of them is a match. */
export const ALTERNATIVE_MATCH = 2;
/** The beginning or the end of a group. */
export const GROUP_EDGE = 3;
/** What stands on both sides of a place: the flags of its `arg` say what is asked for. */
export const assertion = 4;
/** No text goes on here. */
export const DEAD_END = 5;
/** A match ends here. */
export const match = 6;
/** Goes on, whatever comes. */
export const PASSAGE = 7;
/** A character of ranges; this operation and all after it take one. */
export const RUNE = 8;
/** A character that is always the same. */
export const ONE_RUNE = 9;
/** Any character. */
export const ANY_RUNE = 10;
/** Any character but a line feed. */
export const ANY_BUT_LINE_FEED = 11;

/** Of a character's `arg`: it stands for both cases. */
export const FOLDS_CASE = 1;

/** Of an assertion's `arg`: a line begins here. */
export const LINE_BEGINS = 1;
/** A line ends here. */
export const LINE_ENDS = 2;
/** The text begins here. */
export const TEXT_BEGINS = 4;
/** The text ends here. */
export const TEXT_ENDS = 8;
/** A word begins or ends here. */
export const WORD_BOUNDARY = 16;
/** None does. */
export const NO_WORD_BOUNDARY = 32;
