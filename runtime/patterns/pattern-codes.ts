// What the numbers of a compiled pattern's instructions mean, as re2js gives them.

/** Two branches, the preferred one first. */
export const alternative = 1;
/** The same, where one of them is a match. */
export const alternativeMatch = 2;
/** The beginning or the end of a group. */
export const groupEdge = 3;
/** What stands on both sides of a place: the flags of its `arg` say what is asked for. */
export const assertion = 4;
/** No text goes on here. */
export const deadEnd = 5;
/** A match ends here. */
export const match = 6;
/** Goes on, whatever comes. */
export const passage = 7;
/** A character of ranges; this operation and all after it take one. */
export const rune = 8;
/** A character that is always the same. */
export const oneRune = 9;
/** Any character. */
export const anyRune = 10;
/** Any character but a line feed. */
export const anyButLineFeed = 11;

/** Of a character's `arg`: it stands for both cases. */
export const foldsCase = 1;

/** Of an assertion's `arg`: a line begins here. */
export const lineBegins = 1;
/** A line ends here. */
export const lineEnds = 2;
/** The text begins here. */
export const textBegins = 4;
/** The text ends here. */
export const textEnds = 8;
/** A word begins or ends here. */
export const wordBoundary = 16;
/** None does. */
export const noWordBoundary = 32;
