/** A key as those read it who do not regard case (Go's encoding/json and others), by Unicode's simple folding. */
export function foldCase(key: string): string {
  return key.toUpperCase().toLowerCase();
}
