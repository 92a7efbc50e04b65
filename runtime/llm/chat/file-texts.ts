import { isUtf8 } from "node:buffer";

/**
 * Replaces the text of a file in a member, keeping the file's encoding. Returns the value itself if nothing changes, or if
 * it does not contain a text file: an image, a PDF, a URL. `source`: the object with the member, which may name the file's
 * type.
 */
export function mapFile(
  value: string,
  key: string,
  source: Readonly<Record<string, unknown>>,
  replace: (text: string) => string,
): string {
  if (key === "data") {
    const { type, media_type: mediaType, mimeType = source.mime_type } = source;
    // Google's API has no `type`: its data are always base64.
    if (type !== "base64" && mimeType === undefined) return value;
    return mapBytes(value, String(mediaType ?? mimeType ?? ""), replace);
  }
  if (!HOLDERS.has(key)) return value;
  const [prefix, mediaType, isBase64] =
    /^\s*data:([^,;]*)(?:;[^,;]*)*?(;\s*base64\s*)?,/i.exec(value) ?? [];
  if (prefix === undefined) return FILES.has(key) ? mapBytes(value, "", replace) : value;
  const written = value.slice(prefix.length);
  if (isBase64 !== undefined) return prefix + mapBytes(written, mediaType ?? "", replace);
  if (MEDIA_TYPES.test(mediaType ?? "")) return value;
  const text = percentDecoded(written);
  if (DOCUMENT_TYPES.test(mediaType ?? "") && IS_DOCUMENT.test(text)) return value;
  const replaced = replace(text);
  return replaced === text ? value : prefix + encodeURIComponent(replaced);
}

/** Members that hold files, or URLs of them. */
const HOLDERS: ReadonlySet<string> = new Set([
  ...["file_data", "file_url", "image_url", "url", "fileUri", "file_uri", "bytes"],
]);

/** Members that hold files in base64. */
const FILES: ReadonlySet<string> = new Set(["file_data", "bytes"]);

/** Types of files that are never read as text, because a model that receives them as images ignores text. */
const MEDIA_TYPES = /^\s*(?:image\/(?!svg)|audio\/|video\/|font\/)/i;

/** Types of files that are not text if their content starts accordingly: servers decide by content, or by file names. */
const DOCUMENT_TYPES = /^\s*application\/(?:pdf|zip|msword|vnd\.)/i;

/** PDF, ZIP (which includes office documents) and older office formats. Text has no NUL bytes and is valid UTF-8. */
const IS_DOCUMENT = /^\s*(?:%PDF-|PK\u0003\u0004)|[\u0000\ufffd]/;

/** The same prefixes in base64. */
const IS_CODED_DOCUMENT = /^\s*(?:JVBERi|UEsDB|0M8R4KGx)/;

/** Replaces the text of a file in base64. Returns the same if it is not text, or if nothing changes. */
export function mapBytes(
  base64: string,
  mediaType: string,
  replace: (text: string) => string,
): string {
  if (MEDIA_TYPES.test(mediaType)) return base64;
  if (DOCUMENT_TYPES.test(mediaType) && IS_CODED_DOCUMENT.test(base64)) return base64;
  // It is not base64 despite its declaration: some server may read it literally.
  if (!/^[\w+/=\s-]*$/.test(base64)) return replace(base64);
  const bytes = Buffer.from(base64, "base64");
  const encoding = encodingOf(bytes, mediaType);
  if (encoding === undefined) return base64;
  const text = bytes.toString(encoding);
  const replaced = replace(text);
  return replaced === text ? base64 : Buffer.from(replaced, encoding).toString("base64");
}

/** Returns the encoding of bytes; `undefined` if they are not text. */
function encodingOf(bytes: Buffer, mediaType: string): "utf8" | "utf16le" | "latin1" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf16le";
  if (!bytes.includes(0) && isUtf8(bytes)) return "utf8";
  // Bytes that are declared as text are always read.
  return /^\s*text\//i.test(mediaType) ? (bytes.includes(0) ? "utf16le" : "latin1") : undefined;
}

/** Decodes percent-encoding; invalid sequences remain. */
function percentDecoded(written: string): string {
  return written.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll("%", ""), "hex").toString(),
  );
}
