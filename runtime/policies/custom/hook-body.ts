/** Returns the bytes of a body that a hook returned. Throws if it is something else, or larger than bodies may be. */
export function hookBody(body: unknown, limit: number): Buffer {
  const bytes = bytesOf(body);
  if (bytes.length > limit)
    throw new RangeError(`a hook returned a body of more than ${limit} bytes`);
  return bytes;
}

function bytesOf(body: unknown): Buffer {
  if (typeof body === "string") return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.length);
  throw new TypeError("a hook for bodies returned something other than a body or a refusal");
}
