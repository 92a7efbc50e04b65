import type { AudioBlock, DocumentBlock, ImageBlock, MediaSource } from "../../chat/content.ts";
import type { NoteFeature } from "../../chat/features.ts";
import { unsupportedField } from "../../chat/request-object.ts";
import type { GoogleObject } from "./google-object.ts";

/** Reads a part with a picture, sound or a file; `undefined` for another part. Throws LlmRefusal. */
export function readMedia(
  part: GoogleObject,
  note: NoteFeature,
): ImageBlock | DocumentBlock | AudioBlock | undefined {
  const inline = part.object("inlineData");
  if (inline !== undefined) {
    const mediaType = inline.text("mimeType");
    const data = inline.text("data");
    if (mediaType.startsWith("audio/")) {
      note("audio", inline.path);
      return { kind: "audio", data, format: mediaType.slice("audio/".length) };
    }
    if (mediaType.startsWith("video/")) throw unsupportedField(inline.path, "a video");
    const isImage = mediaType.startsWith("image/");
    note(isImage ? "image" : "document", inline.path);
    return block(isImage, { kind: "base64", mediaType, data }, inline);
  }
  const file = part.object("fileData");
  if (file === undefined) return undefined;
  const url = file.text("fileUri");
  const mediaType = file.optionalText("mimeType") ?? "";
  if (mediaType.startsWith("video/") || VIDEO_PAGE.test(url)) {
    throw unsupportedField(file.at("fileUri"), "a video");
  }
  const isImage = mediaType.startsWith("image/");
  if (!isUrl(url)) {
    note("fileReference", file.at("fileUri"));
    return block(isImage, { kind: "file", id: url }, file);
  }
  note(isImage ? "imageUrl" : "documentUrl", file.at("fileUri"));
  return block(isImage, { kind: "url", url }, file);
}

function block(isImage: boolean, source: MediaSource, named: GoogleObject) {
  if (isImage) return { kind: "image" as const, source };
  return { kind: "document" as const, source, name: named.optionalText("displayName") };
}

/** Pages whose videos Google's models watch. */
const VIDEO_PAGE = /^https?:\/\/(?:www\.|m\.)?(?:youtube\.com|youtu\.be)\//;

/** Whether an address is one of the web. Google's own storage and uploaded files can be read by Google only. */
function isUrl(address: string): boolean {
  return /^https?:/.test(address) && !address.includes("generativelanguage.googleapis.com/");
}
