import { setImmediate } from "node:timers/promises";
import type { Exchange } from "../../http/exchange.ts";
import { readCallOf } from "../calls/chat-call.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { Form, FormPart } from "../forms/multipart.ts";
import { passTo } from "../pass-through.ts";
import { BatchRequests, invalid } from "./batch-requests.ts";
import { OPENAI_RESULTS, resultReader } from "./batch-results.ts";
import { readUpload, serveFile, shownFile, uploadForChats } from "./chat-files.ts";
import { pathBelow, pathOfStored, type StoreService } from "./object-store.ts";
import { sendStored } from "./send-stored.ts";
import { refuseLists, serveBelow } from "./serve-stored.ts";

/** Serves files of batches and chats. `api`: path of the API. */
export function serveFiles(exchange: Exchange, service: StoreService, api: string): Promise<void> {
  return serveBelow(exchange, service, api, async ({ id, action, more }) => {
    if (id === undefined) {
      if (exchange.method === "GET") throw refuseLists("files");
      await upload(exchange, service);
      return;
    }
    serveFile(exchange, service, { kind: "file-", id, action, more }, (stored) => {
      const { timeout } = service;
      const path = pathBelow(stored.store, pathOfStored(stored, "content"));
      const reader = resultReader(exchange, service, stored, OPENAI_RESULTS);
      const settings = { path, reader, ...(timeout !== undefined && { timeout }) };
      passTo(exchange, stored.store.provider, settings);
    });
  });
}

/** Stores the requests of a batch at the provider of their models. */
async function upload(exchange: Exchange, service: StoreService): Promise<void> {
  const uploaded = await readUpload(exchange, service);
  if (uploaded === undefined) return;
  const { call, form, file } = uploaded;
  const { purpose } = call.body;
  if (purpose === "user_data" || purpose === "vision") {
    uploadForChats(exchange, service, uploaded, "file-");
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
    shown: shownFile(exchange, service, store, "file-"),
    onDone: () => requests.charge(),
  });
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
