import { isUtf8 } from "node:buffer";
import type { MediaSource } from "../chat/content.ts";

/** Parses a base64 data URL (RFC 2397); `undefined` for any other URL. */
export function readDataUrl(url: string): Extract<MediaSource, { kind: "base64" }> | undefined {
  const [, type, data] = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^,]*)?;base64,(.*)$/s.exec(url) ?? [];
  if (type === undefined || data === undefined) return undefined;
  // A common, unregistered type.
  return { kind: "base64", mediaType: type === "image/jpg" ? "image/jpeg" : type, data };
}

/** Reads a file as OpenAI's clients send it: a data URL, or base64 alone. `name`: of the file, whose extension is its type. */
export function readFileData(
  data: string,
  name: string | undefined,
): Extract<MediaSource, { kind: "base64" }> | undefined {
  const source = readDataUrl(data);
  if (source !== undefined || !/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(data)) return source;
  const [, extension = "pdf"] = /\.(\w+)$/.exec(name ?? "") ?? [];
  const mediaType = FILE_TYPES[extension.toLowerCase()];
  return mediaType === undefined ? undefined : { kind: "base64", mediaType, data };
}

/** Returns the name of a file that a client sent without a name. */
export function fileName({ mediaType }: Extract<MediaSource, { kind: "base64" }>): string {
  const [extension = "pdf"] =
    Object.entries(FILE_TYPES).find(([, type]) => type === mediaType) ?? [];
  return `document.${extension}`;
}

/** Media types of files by their extensions. */
const FILE_TYPES: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
  xml: "application/xml",
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xls: "application/vnd.ms-excel",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};

/** Returns the text of a file; `undefined` if its type is not one of text, or its content is not. */
export function decodedFile({
  mediaType,
  data,
}: Extract<MediaSource, { kind: "base64" }>): string | undefined {
  if (!TEXT_TYPES.test(mediaType)) return undefined;
  const bytes = Buffer.from(data, "base64");
  return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}

const TEXT_TYPES = /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|sql)$/;

/** Returns the data URL of a source. */
export function dataUrl({ mediaType, data }: Extract<MediaSource, { kind: "base64" }>): string {
  return `data:${mediaType};base64,${data}`;
}
