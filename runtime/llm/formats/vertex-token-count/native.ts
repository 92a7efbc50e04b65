import type { NativeFormat } from "../../chat/formats.ts";
import { tokenCountNative } from "../token-count/native.ts";
import { adaptCountToVertex } from "../vertex-messages/adapt.ts";

/** Anthropic's token counting on Vertex AI. */
export const vertexTokenCountNative: NativeFormat = {
  ...tokenCountNative,
  adapt: adaptCountToVertex,
};
