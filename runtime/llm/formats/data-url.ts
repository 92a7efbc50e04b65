import type { MediaSource } from "../chat/content.ts";

/** Parses a base64 data URL (RFC 2397); `undefined` for any other URL. */
export function readDataUrl(url: string): Extract<MediaSource, { kind: "base64" }> | undefined {
  const [, type, data] = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^,]*)?;base64,(.*)$/s.exec(url) ?? [];
  if (type === undefined || data === undefined) return undefined;
  // A common, unregistered type.
  return { kind: "base64", mediaType: type === "image/jpg" ? "image/jpeg" : type, data };
}

/** Returns the data URL of a source. */
export function dataUrl({ mediaType, data }: Extract<MediaSource, { kind: "base64" }>): string {
  return `data:${mediaType};base64,${data}`;
}
