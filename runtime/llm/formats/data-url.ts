import type { MediaSource } from "../chat/content.ts";

/** What a data URL holds (RFC 2397), as far as it is base64; undefined: it is none of those. */
export function readDataUrl(url: string): Extract<MediaSource, { kind: "base64" }> | undefined {
  const [, type, data] = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^,]*)?;base64,(.*)$/s.exec(url) ?? [];
  if (type === undefined || data === undefined) return undefined;
  // No registered type, but common.
  return { kind: "base64", mediaType: type === "image/jpg" ? "image/jpeg" : type, data };
}

/** The data URL of a source. */
export function dataUrl({ mediaType, data }: Extract<MediaSource, { kind: "base64" }>): string {
  return `data:${mediaType};base64,${data}`;
}
