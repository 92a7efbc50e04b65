/** A step up or a step on the spot, where servers see one that decode twice or leave parameters out. */
const HIDDEN_STEP = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\;]|%2f|%5c|%3b)/i;

const CONTROL = /[\0-\x1f\x7f]/;

/**
 * A text, percent-encoded, as a segment of a path; undefined: it is empty, no Unicode, or what some servers take for a
 * step to another path. A `/` in it is encoded.
 */
export function pathSegment(text: string): string | undefined {
  const isPlain = text.isWellFormed() && !CONTROL.test(text) && !HIDDEN_STEP.test(text);
  return isPlain && text !== "" ? encodeURIComponent(text) : undefined;
}
