import { setImmediate } from "node:timers/promises";
import type { JsonObject } from "../../cel/variables.ts";
import { bufferBody } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { type ChatCall, readCallOf } from "../calls/chat-call.ts";
import { requireOpenModels } from "../calls/open-models.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import { bufferOf } from "../chat/stream-step.ts";
import { boundaryOf, readFormCall } from "../forms/form-call.ts";
import { rewrittenForm } from "../forms/form-target.ts";
import { type Form, type FormPart, parseForm } from "../forms/multipart.ts";
import { passTo } from "../pass-through.ts";
import { BatchRequests, invalid } from "./batch-requests.ts";
import { OPENAI_RESULTS, resultReader } from "./batch-results.ts";
import {
  idAt,
  idOwner,
  type ObjectStore,
  pathBelow,
  type StoreService,
  storedOf,
} from "./object-store.ts";
import { sendStored } from "./send-stored.ts";
import { noMethod, refuseLists, serveBelow } from "./serve-stored.ts";

/** Serves files of batches and chats. `api`: path of the API. */
export function serveFiles(exchange: Exchange, service: StoreService, api: string): Promise<void> {
  return serveBelow(exchange, service, api, async ({ id, action }) => {
    if (id === undefined) {
      if (exchange.method === "GET") throw refuseLists("files");
      await upload(exchange, service);
      return;
    }
    const { store, id: own } = storedOf(exchange, service, "file-", id);
    const isKnown = action === undefined ? ["GET", "DELETE"] : ["GET"];
    if (!isKnown.includes(exchange.method) || (action ?? "content") !== "content") throw noMethod();
    const rest = `/${encodeURIComponent(own)}`;
    if (action === undefined) {
      sendStored(exchange, service, { store, rest, shown: shownFile(exchange, service, store) });
      return;
    }
    const { timeout } = service;
    const path = pathBelow(store, `${rest}/content`);
    const reader = resultReader(exchange, service, { store, id: own }, OPENAI_RESULTS);
    passTo(exchange, store.provider, { path, reader, ...(timeout !== undefined && { timeout }) });
  });
}

/** Stores the requests of a batch at the provider of their models. */
async function upload(exchange: Exchange, service: StoreService): Promise<void> {
  // An unknown caller is refused before anything is read.
  idOwner(exchange, service);
  if (!(await bufferBody(exchange, service.limit))) return;
  const call = readFormCall(exchange);
  const boundary = boundaryOf(exchange) ?? "";
  const form = parseForm(bufferOf(call.sent.bytes), boundary);
  const [file, ...others] = form.parts.filter(({ isFile }) => isFile);
  if (file?.name !== "file" || others.length > 0)
    throw invalid('one file is needed: "file"', "file");
  const { purpose } = call.body;
  if (purpose === "user_data" || purpose === "vision") {
    uploadForChats(exchange, service, call, form);
    return;
  }
  if (purpose !== "batch")
    throw invalid('"purpose" must be "batch", "user_data" or "vision"', "purpose");
  const requests = new BatchRequests(exchange, service.stores);
  const lines = await checkedLines(exchange, form, file, service, requests);
  const { store } = requests;
  if (!(await requests.expect())) return;
  sendStored(exchange, service, {
    ...{ store, rest: "" },
    body: {
      type: exchange.header("content-type") ?? "",
      bytes: withFile(form, file, lines, exchange),
    },
    shown: shownFile(exchange, service, store),
    onDone: () => requests.charge(),
  });
}

/** Stores a file that chats may name. */
function uploadForChats(
  exchange: Exchange,
  service: StoreService,
  call: ChatCall,
  form: Form,
): void {
  const store = storeFor(exchange, service, call);
  if (store.guards !== undefined)
    throw invalid("the models of this route have guards, which cannot read files", "purpose");
  const { model, ...fields } = call.body;
  const bytes =
    model === undefined ? form.bytes : rewrittenForm(form, fields, exchange.newBuffer());
  sendStored(exchange, service, {
    ...{ store, rest: "" },
    body: { type: exchange.header("content-type") ?? "", bytes },
    shown: shownFile(exchange, service, store),
  });
}

/** Returns the store of a file: the provider of the model that its form names, or the only one. */
function storeFor(
  exchange: Exchange,
  { stores, endpoints }: StoreService,
  call: ChatCall,
): ObjectStore {
  const [only, ...others] = stores;
  if (call.model === undefined) {
    if (only !== undefined && others.length === 0) return only;
    throw invalid('"model" is missing: its provider stores the file', "model");
  }
  requireOpenModels(exchange, call);
  const conditions = { request: exchange, llmRequest: call.body };
  for (const endpoint of Object.values(endpoints)) {
    for (const { provider } of endpoint.targets(call.model, conditions) ?? []) {
      const store = stores.find((each) => each.provider === provider);
      if (store !== undefined) return store;
    }
  }
  throw invalid(`the provider of the model "${call.model}" has no files`, "model");
}

/** Returns the lines of a file, each as the provider gets it. Throws LlmRefusal that names the line. */
async function checkedLines(
  exchange: Exchange,
  { bytes }: Form,
  { start, end }: FormPart,
  { endpoints }: StoreService,
  requests: BatchRequests,
): Promise<readonly string[]> {
  const lines: string[] = [];
  let number = 0;
  for (let at = start; at < end; ) {
    const newline = bytes.indexOf("\n", at);
    const next = newline === -1 || newline > end ? end : newline;
    const line = bytes.subarray(at, next);
    at = next + 1;
    number += 1;
    if (line.toString("latin1").trim() === "") continue;
    // A long file must not keep other requests waiting.
    if (number % LINES_AT_ONCE === 0) await setImmediate();
    lines.push(await atLine(number, () => checkedLine(exchange, line, endpoints, requests)));
  }
  return lines;
}

const LINES_AT_ONCE = 64;

async function checkedLine(
  exchange: Exchange,
  line: Buffer,
  endpoints: StoreService["endpoints"],
  requests: BatchRequests,
): Promise<string> {
  const item = readCallOf(exchange, line);
  const { url, method } = item.body;
  const service =
    typeof url === "string" && Object.hasOwn(endpoints, url) ? endpoints[url] : undefined;
  if (service === undefined) {
    throw invalid(`"url" must be one of ${Object.keys(endpoints).join(", ")}`, "url");
  }
  if (method !== "POST") throw invalid('"method" must be "POST"', "method");
  return requests.add(item, "body", service);
}

/** Adds the number of a line to the message of a refusal. */
async function atLine<Result>(line: number, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof LlmRefusal)) throw error;
    throw new LlmRefusal({ ...error.error, message: `line ${line}: ${error.error.message}` });
  }
}

/** Returns the form with another content of its file. */
function withFile(
  { bytes, boundary }: Form,
  { start, end }: FormPart,
  lines: readonly string[],
  exchange: Exchange,
): Buffer {
  const copy = exchange.newBuffer();
  const content = Buffer.from(`${lines.join("\n")}\n`);
  if (content.includes(`--${boundary}`)) throw invalid("the boundary of the form occurs in a line");
  const isRoom = [bytes.subarray(0, start), content, bytes.subarray(end)].every((piece) =>
    copy.push(piece),
  );
  if (!isRoom) {
    throw new LlmRefusal({ kind: "overloaded", message: "too many request bodies at once" });
  }
  return copy.bytes();
}

function shownFile(
  exchange: Exchange,
  service: StoreService,
  store: ObjectStore,
): (file: JsonObject) => JsonObject {
  const owner = idOwner(exchange, service);
  return (file) =>
    typeof file.id === "string" ? { ...file, id: idAt(owner, "file-", store, file.id) } : file;
}
