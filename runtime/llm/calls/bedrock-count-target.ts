import { claudeBetas } from "../formats/converse/claude-betas.ts";
import { readConverseError } from "../formats/converse/errors.ts";
import { parseObject } from "../formats/parse-object.ts";
import { tokenCountNative } from "../formats/token-count/native.ts";
import { nativeTarget } from "./native-target.ts";
import type { LlmTarget, TargetSettings } from "./target.ts";

/**
 * Counts the tokens of a Claude request with Bedrock, for clients of Anthropic's API:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html. Sends the request in the format of
 * InvokeModel, because counting in the format of Converse ignores tools.
 */
export function bedrockCountTarget(settings: TargetSettings): LlmTarget {
  return {
    // The response is never streamed.
    ...nativeTarget({ ...settings, format: tokenCountNative }),
    isNative: false,
    requestBody: ({ headers }, body) => {
      body.delete("model");
      body.set("anthropic_version", '"bedrock-2023-05-31"');
      // Bedrock requires the field, but ignores its value here.
      body.set("max_tokens", "1");
      const betas = claudeBetas(headers);
      if (betas.length > 0) body.set("anthropic_beta", JSON.stringify(betas));
      const invokeModel = { body: Buffer.from(body.toString()).toString("base64") };
      return JSON.stringify({ input: { invokeModel } });
    },
    readError: readConverseError,
    readWhole: ({ text }) => {
      const counted = parseObject(text)?.inputTokens;
      if (typeof counted !== "number") throw new Error("the response has no count");
      return { text: JSON.stringify({ input_tokens: counted }), facts: { counted } };
    },
  };
}
