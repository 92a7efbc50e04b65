import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { BodyFormat } from "../../chat/body-format.ts";
import { LlmRefusal } from "../../chat/llm-error.ts";
import { checkFields, type FieldTable } from "../../chat/request-fields.ts";
import { type RequestObject, unsupportedField, wrongField } from "../../chat/request-object.ts";
import { readGenerateContentError } from "../generate-content/errors.ts";

/** Handling of each field of a request for images (OpenAI, CreateImageRequest). */
const FIELDS: FieldTable = {
  model: "read",
  prompt: "read",
  n: "read",
  size: "read",
  output_format: "read",
  output_compression: "read",
  response_format: { refusedUnless: ["b64_json"] },
  background: { refusedUnless: ["auto", "opaque"] },
  stream: { refusedUnless: [false] },
  partial_images: { refusedUnless: [0] },
  quality: "dropped",
  style: "dropped",
  moderation: "dropped",
  user: "dropped",
};

/** Images of Imagen, which are predictions of Vertex AI. */
export const vertexPredictImages: BodyFormat = {
  writeRequest: (fields) => {
    checkFields(fields, FIELDS);
    return JSON.stringify({
      instances: [{ prompt: fields.text("prompt") }],
      parameters: {
        sampleCount: fields.number("n") ?? 1,
        aspectRatio: aspectRatio(fields),
        outputOptions: outputOptions(fields),
        // Reports why an image is missing.
        includeRaiReason: true,
      },
    });
  },
  readResponse: ({ predictions }) => {
    const found = Array.isArray(predictions) ? predictions.filter(isJsonObject) : [];
    const data = found.flatMap(({ bytesBase64Encoded: image, prompt }) => {
      const revised = typeof prompt === "string" && { revised_prompt: prompt };
      return typeof image === "string" ? [{ b64_json: image, ...revised }] : [];
    });
    if (data.length === 0) throw filtered(found);
    return { created: Math.floor(Date.now() / 1000), data };
  },
  readError: readGenerateContentError,
};

/** Imagen returns nothing if its filters remove every image. */
function filtered(predictions: readonly JsonObject[]): LlmRefusal {
  const [reason] = predictions.map((each) => each.raiFilteredReason).filter(Boolean);
  const message = typeof reason === "string" ? reason : "the provider's filters removed the images";
  return new LlmRefusal({ kind: "filtered", message, status: 400 });
}

/** Aspect ratios of Imagen. */
const RATIOS = ["1:1", "4:3", "3:4", "16:9", "9:16"] as const;

/** Returns the ratio that is closest to a size such as `1536x1024`. */
function aspectRatio(fields: RequestObject): string | undefined {
  const size = fields.optionalText("size");
  if (size === undefined || size === "auto") return undefined;
  const [, width = "", height = ""] = /^(\d+)x(\d+)$/.exec(size) ?? [];
  if (height === "") throw wrongField("size", "a size such as 1024x1024");
  const wanted = Math.log(Number(width) / Number(height));
  const distance = (ratio: string): number => {
    const [a = "1", b = "1"] = ratio.split(":");
    return Math.abs(Math.log(Number(a) / Number(b)) - wanted);
  };
  return RATIOS.reduce((best, each) => (distance(each) < distance(best) ? each : best));
}

function outputOptions(fields: RequestObject): JsonObject | undefined {
  const format = fields.choice("output_format", ["png", "jpeg", "webp"]);
  if (format === undefined) return undefined;
  if (format === "webp") throw unsupportedField("output_format", "an image of type webp");
  return {
    mimeType: `image/${format}`,
    ...(format === "jpeg" && { compressionQuality: fields.number("output_compression") }),
  };
}
