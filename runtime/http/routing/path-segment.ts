/** A dot segment, as seen by servers that decode twice or strip parameters. */
const HIDDEN_STEP = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\;]|%2f|%5c|%3b)/i;

const CONTROL = /[\0-\x1f\x7f]/;

/**
 * Percent-encodes a string as a path segment, slashes included. Returns `undefined` if it is empty, not well-formed Unicode, or
 * a dot segment for some servers.
 */
export function pathSegment(text: string): string | undefined {
  const isPlain = text.isWellFormed() && !CONTROL.test(text) && !HIDDEN_STEP.test(text);
  return isPlain && text !== "" ? encodeURIComponent(text) : undefined;
}
