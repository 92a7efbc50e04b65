import type { JsonObject } from "../../../cel/variables.ts";
import type { TextBlock } from "../../chat/content.ts";
import type { ClientFormat, OriginalRequest } from "../../chat/formats.ts";
import type { ChatResponse, ResponseBlock } from "../../chat/response.ts";
import { CitedText } from "../../chat/web-search.ts";
import { agentCallItem } from "./agent-calls.ts";
import { AgentTools } from "./agent-tools.ts";
import { responsesErrors } from "./errors.ts";
import { hostedItem, hostedPrefix } from "./hosted-items.ts";
import {
  callSignatureItem,
  messageItem,
  reasoningItem,
  redactedItem,
  refusalPart,
  searchItem,
  signed,
  textAnnotation,
  textPart,
} from "./output-items.ts";
import { readResponsesRequest } from "./request-reader.ts";
import { endStatus, newId, type ResponseEnd, responseObject } from "./response-object.ts";
import { ResponsesStreamWriter } from "./stream-writer.ts";

/** OpenAI's Responses API, for providers with another format. */
export const responsesClient: ClientFormat = {
  name: "responses",
  ...responsesErrors,
  readRequest: readResponsesRequest,
  writeResponse: writeResponsesResponse,
  openStream: (request) => new ResponsesStreamWriter(request),
};

/** Writes a whole completion as OpenAI's Responses API does. */
function writeResponsesResponse(response: ChatResponse, request: OriginalRequest): string {
  const { id, model, blocks, stop, usage } = response;
  const end: ResponseEnd = { kind: "stopped", stop, usage };
  const tools = new AgentTools(request.body);
  const isCut = endStatus(end) === "incomplete";
  return JSON.stringify(
    responseObject(request, {
      id: id ?? newId("resp"),
      createdAt: Math.floor(Date.now() / 1000),
      model: model === "" ? request.model : model,
      output: blocks.flatMap((block, index) =>
        itemsOf(block, tools, isCut && index === blocks.length - 1),
      ),
      end,
    }),
  );
}

function itemsOf(block: ResponseBlock, tools: AgentTools, isCut: boolean): readonly JsonObject[] {
  const status = isCut ? "incomplete" : "completed";
  switch (block.kind) {
    case "text": {
      const { text, isRefusal } = block;
      const part = isRefusal ? refusalPart(text) : textPart(text, annotationsOf(block));
      return [messageItem(newId("msg"), [part], status)];
    }
    case "search":
      return [searchItem(newId("ws"), block)];
    case "hosted":
      return block.tool === "fetch" ? [] : [hostedItem(newId(hostedPrefix(block)), block)];
    case "tool-call": {
      const call = agentCallItem(newId("fc"), block, tools.of(block.name), status);
      const { signature } = block;
      return signature === undefined ? [call] : [callSignatureItem(newId("rs"), signature), call];
    }
    case "reasoning":
      return [reasoningItem(newId("rs"), block.text, signed(block.signature))];
    case "redacted-reasoning":
      return [redactedItem(newId("rs"), block.data)];
  }
}

function annotationsOf({ text, citations = [] }: TextBlock): readonly JsonObject[] {
  const cited = new CitedText();
  cited.add(text);
  return citations.map((page) => textAnnotation(cited.cite(page)));
}
