import { dataEvents, namedEvents } from "./upstream.ts";

/** The page that every search finds. */
export const page = { url: "https://news.test/a", title: "News" };

/** The query of every search, and the text that it leads to. */
export const query = "weather in Rome";
export const found = "It rains.";

/** A provider whose model has searched the web. */
export interface Searching {
  readonly whole: object;
  readonly events: readonly string[];
}

const usage = { input_tokens: 9, output_tokens: 7 };
const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search" };
const result = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [{ type: "web_search_result", ...page, encrypted_content: "x", page_age: null }],
};
const citation = {
  ...{ type: "web_search_result_location", ...page },
  ...{ cited_text: "Rain.", encrypted_index: "y" },
};
const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-1", usage };
const block = (index: number, content_block: object, ...deltas: readonly object[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

const anthropic: Searching = {
  whole: {
    ...message,
    content: [
      { ...call, input: { query } },
      result,
      { type: "text", text: found, citations: [citation] },
    ],
    stop_reason: "end_turn",
  },
  events: namedEvents([
    { type: "message_start", message: { ...message, content: [] } },
    ...block(
      0,
      { ...call, input: {} },
      { type: "input_json_delta", partial_json: '{"query":"weath' },
      { type: "input_json_delta", partial_json: 'er in Rome"}' },
    ),
    ...block(1, result),
    ...block(
      2,
      { type: "text", text: "", citations: [] },
      { type: "citations_delta", citation },
      { type: "text_delta", text: found },
    ),
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
    { type: "message_stop" },
  ]),
};

const action = { type: "search", query, sources: [{ type: "url", url: page.url }] };
const searched = { id: "ws_1", type: "web_search_call", status: "completed", action };
const annotation = { type: "url_citation", ...page, start_index: 0, end_index: found.length };
const said = {
  ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
  content: [{ type: "output_text", text: found, annotations: [annotation], logprobs: [] }],
};
const response = { id: "resp_1", object: "response", model: "gpt-5", status: "completed", usage };
const at = { item_id: "msg_1", output_index: 1, content_index: 0 };

const openai: Searching = {
  whole: { ...response, output: [searched, said] },
  events: namedEvents([
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: searched },
    { type: "response.web_search_call.searching", output_index: 0, item_id: "ws_1" },
    { type: "response.output_item.done", output_index: 0, item: searched },
    { type: "response.output_item.added", output_index: 1, item: { ...said, content: [] } },
    { type: "response.output_text.delta", ...at, delta: found },
    { type: "response.output_text.annotation.added", ...at, annotation_index: 0, annotation },
    { type: "response.output_item.done", output_index: 1, item: said },
    { type: "response.completed", response: { ...response, output: [searched, said] } },
  ]),
};

const groundingMetadata = {
  webSearchQueries: [query],
  groundingChunks: [{ web: { uri: page.url, title: page.title } }],
};
const spoken = { role: "model", parts: [{ text: found }] };
const counts = { promptTokenCount: 9, candidatesTokenCount: 7, totalTokenCount: 16 };
const piece = (candidate: object) => {
  return { responseId: "r-1", candidates: [{ index: 0, ...candidate }], usageMetadata: counts };
};

const gemini: Searching = {
  whole: piece({ content: spoken, finishReason: "STOP", groundingMetadata }),
  events: dataEvents([
    piece({ content: spoken }),
    piece({ content: { role: "model", parts: [] }, finishReason: "STOP", groundingMetadata }),
  ]),
};

/** The providers. */
export const searching = { openai, anthropic, gemini } as const;
