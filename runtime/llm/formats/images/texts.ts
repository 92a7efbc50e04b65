import { isJsonObject } from "../../../json/json-object.ts";
import type { StreamTexts, TextFormat, TextGuards } from "../../chat/texts.ts";
import { mapTexts } from "../../chat/texts.ts";
import { CarriedTexts } from "../carried-texts.ts";
import { BARE_COMMENT, readEvent } from "../read-event.ts";

/** Texts of requests for images, and of responses: prompts that a model has revised. */
export const imagesTexts: TextFormat = {
  request: ["prompt"],
  plain: new Set([
    ...["model", "n", "stream", "quality", "size", "style", "background", "moderation"],
    ...["response_format", "output_format", "output_compression", "partial_images"],
    ...["input_fidelity", "images", "mask", "user"],
  ]),
  response: ["data"],
  plainResponse: new Set([
    ...["id", "created", "object", "model", "usage", "background", "output_format"],
    ...["quality", "size"],
  ]),
  openStream: (texts) => new ImageTexts(texts),
};

/** Guards the texts of events, of which most only have an image. */
class ImageTexts implements StreamTexts {
  readonly #texts: TextGuards;

  constructor(texts: TextGuards) {
    this.#texts = texts;
  }

  see(given: Buffer): readonly (string | Buffer)[] {
    const read = readEvent(given, given.toString("utf8"), this.#texts);
    if (read === undefined) return [BARE_COMMENT];
    const { bytes, data, object } = read;
    // Events that cannot be parsed cannot be guarded.
    if (object === undefined) return data === "[DONE]" ? [bytes] : [];
    const mapped = mapTexts(object, new CarriedTexts(this.#texts, String(object.type)));
    if (mapped === object || !isJsonObject(mapped)) return [bytes];
    return [`event: ${mapped.type}\ndata: ${JSON.stringify(mapped)}\n\n`];
  }

  end(): readonly (string | Buffer)[] {
    return [];
  }
}
