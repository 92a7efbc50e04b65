import { dataEvents, namedEvents } from "./upstream.ts";

/** Program that the providers of this file ran, and the text of their models. */
export const ran = { code: "print(6 * 7)", output: "42\n", said: "It is 42." };
export const called = { server: "docs", name: "find", input: { q: "a" }, output: "Found b." };
export const fetchedUrl = "https://news.test/a";

/** A provider whose model has used tools of the provider. */
export interface Hosting {
  readonly whole: object;
  readonly events: readonly string[];
}

const usage = { input_tokens: 9, output_tokens: 7 };
const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-1", usage };

/** The blocks of Anthropic's servers; the inputs of calls arrive in pieces. */
const blocks: readonly { readonly [member: string]: unknown }[] = [
  {
    ...{ type: "server_tool_use", id: "srvtoolu_1", name: "bash_code_execution" },
    input: { command: ran.code },
  },
  {
    ...{ type: "bash_code_execution_tool_result", tool_use_id: "srvtoolu_1" },
    content: {
      ...{ type: "bash_code_execution_result", stdout: ran.output, stderr: "", return_code: 0 },
      content: [],
    },
  },
  {
    ...{ type: "mcp_tool_use", id: "mcptoolu_1", name: called.name, server_name: called.server },
    input: called.input,
  },
  {
    ...{ type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false },
    content: [{ type: "text", text: called.output }],
  },
  {
    ...{ type: "server_tool_use", id: "srvtoolu_2", name: "web_fetch" },
    input: { url: fetchedUrl },
  },
  {
    ...{ type: "web_fetch_tool_result", tool_use_id: "srvtoolu_2" },
    content: { type: "web_fetch_result", url: fetchedUrl, retrieved_at: null, content: {} },
  },
  { type: "text", text: ran.said },
];

const anthropic: Hosting = {
  whole: { ...message, content: blocks, stop_reason: "end_turn" },
  events: namedEvents([
    { type: "message_start", message: { ...message, content: [] } },
    ...blocks.flatMap((block, index) => {
      const { input } = block;
      const content_block = input === undefined ? block : { ...block, input: {} };
      const text = JSON.stringify(input ?? {});
      const pieces = input === undefined ? [] : [text.slice(0, 4), text.slice(4)];
      return [
        { type: "content_block_start", index, content_block },
        ...pieces.map((partial_json) => ({
          ...{ type: "content_block_delta", index },
          delta: { type: "input_json_delta", partial_json },
        })),
        { type: "content_block_stop", index },
      ];
    }),
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
    { type: "message_stop" },
  ]),
};

const response = { id: "resp_1", object: "response", model: "gpt-5", status: "completed", usage };
const output = [
  {
    ...{ id: "ci_1", type: "code_interpreter_call", status: "completed", container_id: "cntr_1" },
    ...{ code: ran.code, outputs: [{ type: "logs", logs: ran.output }] },
  },
  { id: "mcpl_1", type: "mcp_list_tools", server_label: called.server, tools: [] },
  {
    ...{ id: "mcp_1", type: "mcp_call", server_label: called.server, name: called.name },
    ...{ arguments: JSON.stringify(called.input), output: called.output, error: null },
  },
  {
    ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
    content: [{ type: "output_text", text: ran.said, annotations: [], logprobs: [] }],
  },
];

const openai: Hosting = {
  whole: { ...response, output },
  events: namedEvents([
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...output.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item: { ...item, outputs: null } },
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: { ...response, output } },
  ]),
};

const counts = { promptTokenCount: 9, candidatesTokenCount: 7, totalTokenCount: 16 };
const piece = (parts: readonly object[], members: object = {}) => ({
  responseId: "r-1",
  candidates: [{ index: 0, content: { role: "model", parts }, ...members }],
  usageMetadata: counts,
});
const parts = [
  { executableCode: { language: "PYTHON", code: ran.code } },
  { codeExecutionResult: { outcome: "OUTCOME_OK", output: ran.output } },
  { text: ran.said },
];
const last = {
  finishReason: "STOP",
  urlContextMetadata: {
    urlMetadata: [{ retrievedUrl: fetchedUrl, urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" }],
  },
};

const gemini: Hosting = {
  whole: piece(parts, last),
  events: dataEvents([...parts.map((part) => piece([part])), piece([], last)]),
};

/** The providers. */
export const hosting = { openai, anthropic, gemini } as const;
