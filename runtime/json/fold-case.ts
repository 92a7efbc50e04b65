/** A key as those read it who do not regard case (Go's encoding/json and others), by Unicode's simple folding. */
export function foldCase(key: string): string {
  return IS_FOLDED.test(key) ? key : key.toUpperCase().toLowerCase();
}

/** Most keys are. */
const IS_FOLDED = /^[\0-@[-\x7f]*$/;
