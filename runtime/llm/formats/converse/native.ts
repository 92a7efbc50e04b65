import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { NativeFormat, ResponseFacts } from "../../chat/formats.ts";
import { UNWATCHED_STREAM } from "../unwatched-stream.ts";
import { converseErrors, readConverseError } from "./errors.ts";
import { readConverseUsage } from "./usage.ts";

/** Bedrock's Converse on both sides. Its streams have a relay of their own. */
export const converseNative: NativeFormat = {
  name: "converse",
  ...converseErrors,
  reads: { usage: true, serviceTier: true, stopReason: true, output: { message: { role: true } } },
  readResponse: readFacts,
  watchStream: () => UNWATCHED_STREAM,
  readError: readConverseError,
  // They are in the path.
  adapt: (body) => {
    body.delete("model");
    body.delete("stream");
  },
};

/** Throws if it is no response: some servers report a failed call with a status of success. */
function readFacts(body: JsonObject): ResponseFacts {
  const { output, stopReason: finish } = body;
  if (!isJsonObject(output)) throw new Error("no output in the response");
  const usage = readConverseUsage(body);
  return {
    ...(typeof finish === "string" && { finish }),
    ...(usage !== undefined && { usage }),
  };
}
