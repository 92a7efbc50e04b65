import type { NativeFormat } from "../../chat/formats.ts";
import { unwrapCountedRequest } from "../content-token-count/counted-request.ts";
import { contentTokenCountNative } from "../content-token-count/native.ts";

/** Google's token counting on Vertex AI: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens. */
export const vertexContentTokenCountNative: NativeFormat = {
  ...contentTokenCountNative,
  adapt: unwrapCountedRequest,
};
