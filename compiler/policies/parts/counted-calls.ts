/** What limits of tokens act on. */
export const COUNTED_CALLS = "requests to models whose tokens are counted";
