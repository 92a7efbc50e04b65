/** A streamed completion with text beyond ASCII, a call of a tool, comments, and lines that end in several ways. */
export const completionsStream = [
  ": a comment before anything\n\n",
  ...[
    { role: "assistant", content: "" },
    { content: "Grüße, " },
    { content: "世界 👋🏽" },
    {
      tool_calls: [
        {
          index: 0,
          id: "call_1",
          type: "function",
          function: { name: "get_weather", arguments: "" },
        },
      ],
    },
    { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '"Zürich"}' } }] },
  ].map(
    (delta, index) =>
      `data: ${JSON.stringify({ ...completionsHead(), choices: [{ index: 0, delta, finish_reason: null }] })}${index % 2 === 0 ? "\r\n\r\n" : "\n\n"}`,
  ),
  `data:${JSON.stringify({ ...completionsHead(), choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] })}\r\r`,
  ": keep-alive\n\n",
  `data: ${JSON.stringify({ ...completionsHead(), choices: [], usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 } })}\n\n`,
  "data: [DONE]\n\n",
].join("");

function completionsHead(): object {
  return { id: "chatcmpl-7", object: "chat.completion.chunk", created: 7, model: "gpt-real" };
}

/** The same of the Messages API. */
export const messagesStream = [
  {
    type: "message_start",
    message: {
      id: "msg_7",
      type: "message",
      role: "assistant",
      model: "claude-real",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "ping" },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße, " } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "世界 👋🏽" } },
  { type: "content_block_stop", index: 0 },
  {
    type: "content_block_start",
    index: 1,
    content_block: { type: "tool_use", id: "toolu_1", name: "get_weather", input: {} },
  },
  {
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json: '{"city":' },
  },
  {
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json: '"Zürich"}' },
  },
  { type: "content_block_stop", index: 1 },
  {
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { output_tokens: 12 },
  },
  { type: "message_stop" },
]
  .map((event, index) => {
    const end = index % 3 === 0 ? "\r\n" : "\n";
    return `event: ${event.type}${end}data: ${JSON.stringify(event)}${end}${end}`;
  })
  .join("");
