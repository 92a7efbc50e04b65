/** Folds a key as case-insensitive readers do (Go's encoding/json and others), with Unicode's simple folding. */
export function foldCase(key: string): string {
  return IS_FOLDED.test(key) ? key : key.toUpperCase().toLowerCase();
}

/** Fast path: most keys have no character to fold. */
const IS_FOLDED = /^[\0-@[-\x7f]*$/;
