/**
 * Returns a copy of the bytes of a body that a hook returned, because the policy may change them later, and even their number.
 * Throws if it is something else, or larger than bodies may be.
 */
export function hookBody(body: unknown, limit: number): Buffer {
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError("a hook for bodies returned something other than a body or a refusal");
  // A character has at least one byte: a text that is too large need not be converted.
  const bytes = body.length > limit ? undefined : Buffer.from(body);
  if (bytes === undefined || bytes.length > limit)
    throw new RangeError(`a hook returned a body of more than ${limit} bytes`);
  return bytes;
}
