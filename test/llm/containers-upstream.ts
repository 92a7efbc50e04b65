import type { ServerResponse } from "node:http";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { json } from "./media-upstream.ts";

/** Ids at the provider. */
export const RAW = {
  container: "cntr_RAW",
  written: "cfile_RAW",
  file: "file-RAW",
  response: "resp_RAW",
  run: "ci_RAW",
  message: "msg_RAW",
  reasoning: "rs_RAW",
} as const;

/** Content of the file that a program has written: it is not text. */
export const WRITTEN = Buffer.from([0x89, 0x50, 0x0a, 0xff, 0xfe, 0x0a, 0x00]);

const container = {
  ...{ id: RAW.container, object: "container", created_at: 1, name: "work", status: "running" },
  expires_after: { anchor: "last_active_at", minutes: 20 },
};

const containerFile = {
  ...{ id: RAW.written, object: "container.file", created_at: 1, bytes: WRITTEN.length },
  ...{ container_id: RAW.container, path: "/mnt/data/plot.png", source: "assistant" },
};

/** OpenAI with one container, one file in it, and one response. It refuses ids that it did not give. */
export function startContainers(): Promise<Scripted> {
  return startScripted((response, _count, request) => {
    const foreign = foreignIds(request);
    if (foreign.length > 0) refuse(response, `unknown ids: ${foreign.join(", ")}`);
    else if (request.url.startsWith("/v1/containers")) serveContainer(response, request);
    else if (request.url === "/v1/files") json(response, { id: RAW.file, object: "file" });
    else serveResponse(response, request);
  }, "anything");
}

/** Returns the ids of a request, in its path or its body, that are not those of the provider. */
function foreignIds({ url, body, headers }: Received): readonly string[] {
  const isForm = headers["content-type"]?.startsWith("multipart/") === true;
  const text = isForm ? url : `${url} ${body.toString()}`;
  const ids = text.match(/\b(?:cntr_|cfile_|file-|resp_|ci_|msg_|rs_)[\w-]+/g) ?? [];
  const own: readonly string[] = Object.values(RAW);
  return ids.filter((id) => !own.includes(id));
}

function refuse(response: ServerResponse, message: string, status = 400): void {
  json(response, { error: { message, type: "invalid_request_error" } }, status);
}

function serveContainer(response: ServerResponse, request: Received): void {
  const { method } = request;
  const [path = ""] = request.url.split("?");
  const own = `/v1/containers/${RAW.container}`;
  const deleted = method === "DELETE";
  if (path === "/v1/containers" && method === "POST") {
    const { model } = JSON.parse(request.body.toString());
    if (model === undefined) json(response, container);
    else refuse(response, "Unknown parameter: 'model'.");
  } else if (path === own) json(response, deleted ? { id: RAW.container, deleted } : container);
  else if (path === `${own}/files`) {
    const list = { object: "list", data: [containerFile], has_more: false };
    json(response, method === "GET" ? list : containerFile);
  } else if (path === `${own}/files/${RAW.written}`)
    json(response, deleted ? { id: RAW.written, object: "container.file.deleted" } : containerFile);
  else if (path === `${own}/files/${RAW.written}/content`) response.end(WRITTEN);
  else refuse(response, `no ${method} ${path}`, 404);
}

const cited = {
  ...{ type: "container_file_citation", container_id: RAW.container, file_id: RAW.written },
  ...{ filename: "plot.png", start_index: 0, end_index: 4 },
};

const run = {
  ...{ type: "code_interpreter_call", id: RAW.run, status: "completed", code: "plot()" },
  ...{ container_id: RAW.container, outputs: null },
};

const said = {
  ...{ type: "message", id: RAW.message, role: "assistant", status: "completed" },
  content: [{ type: "output_text", text: "plot", annotations: [cited], logprobs: [] }],
};

function serveResponse(response: ServerResponse, { method, url, body }: Received): void {
  const sent = method === "POST" && body.length > 0 ? JSON.parse(body.toString()) : {};
  const whole = {
    ...{ id: RAW.response, object: "response", created_at: 1, model: "m", status: "completed" },
    ...{ previous_response_id: sent.previous_response_id ?? null, tools: sent.tools ?? [] },
    ...{ metadata: { id: "resp_of_the_client", object: "response" }, output: [run, said] },
    usage: {
      ...{ input_tokens: 5, output_tokens: 2, total_tokens: 7 },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
  if (method === "DELETE")
    json(response, { id: RAW.response, object: "response.deleted", deleted: true });
  else if (url.includes("/input_items"))
    json(response, { object: "list", data: [said], first_id: said.id, last_id: said.id });
  else if (url.includes("/input_tokens"))
    json(response, { object: "response.input_tokens", input_tokens: 3 });
  else if (sent.stream === true || url.includes("stream=true")) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of eventsOf(whole))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  } else json(response, whole);
}

function eventsOf(whole: object): readonly { readonly type: string }[] {
  const text = "plot \u2028 response.id";
  const at = { item_id: RAW.message, output_index: 1, content_index: 0 };
  return [
    { type: "response.created", response: { ...whole, status: "in_progress", output: [] } },
    { type: "response.output_item.done", output_index: 0, item: run },
    { type: "response.output_text.delta", ...at, delta: text, logprobs: [] },
    {
      ...{ type: "response.output_text.annotation.added", ...at },
      ...{ annotation_index: 0, annotation: cited },
    },
    { type: "response.output_item.done", output_index: 1, item: said },
    { type: "response.completed", response: whole },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
}
