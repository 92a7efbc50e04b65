import type { NativeFormat } from "../../chat/formats.ts";
import { messagesNative } from "../messages/native.ts";
import { adaptToVertex } from "./adapt.ts";

/** Anthropic's models on Vertex AI, for clients of the Messages API. */
export const vertexMessagesNative: NativeFormat = { ...messagesNative, adapt: adaptToVertex };
