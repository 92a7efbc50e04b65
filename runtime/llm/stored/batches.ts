import type { JsonObject } from "../../cel/variables.ts";
import { bufferBody } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { JsonBody } from "../../json/json-body.ts";
import { readCall } from "../calls/chat-call.ts";
import { invalid } from "./batch-requests.ts";
import {
  idAt,
  idOwner,
  type ObjectStore,
  pathOfStored,
  type StoreService,
  storedOf,
} from "./object-store.ts";
import { sendStored } from "./send-stored.ts";
import { noMethod, nothingThere, refuseLists, serveBelow } from "./serve-stored.ts";
import type { StoredKind } from "./stored-ids.ts";

/** Serves batches of OpenAI. `api`: path of the API. */
export function serveBatches(
  exchange: Exchange,
  service: StoreService,
  api: string,
): Promise<void> {
  return serveBelow(exchange, service, api, async ({ id, action, more }) => {
    if (more.length > 0) throw nothingThere();
    if (id === undefined) {
      if (exchange.method === "GET") throw refuseLists("batches");
      await create(exchange, service);
      return;
    }
    const method = action === undefined ? "GET" : "POST";
    if (exchange.method !== method || (action ?? "cancel") !== "cancel") throw noMethod();
    const stored = storedOf(exchange, service, "batch_", id);
    const { store } = stored;
    const rest = pathOfStored(stored, action);
    sendStored(exchange, service, { store, rest, shown: shownBatch(exchange, service, store) });
  });
}

async function create(exchange: Exchange, service: StoreService): Promise<void> {
  idOwner(exchange, service);
  if (exchange.method !== "POST") throw noMethod();
  if (!(await bufferBody(exchange, service.limit))) return;
  const call = readCall(exchange);
  const { input_file_id: file, endpoint } = call.body;
  if (typeof endpoint !== "string" || !Object.hasOwn(service.endpoints, endpoint)) {
    const known = Object.keys(service.endpoints).join(", ");
    throw invalid(`"endpoint" must be one of ${known}`, "endpoint");
  }
  if (typeof file !== "string") throw invalid('"input_file_id" is missing', "input_file_id");
  const { store, id } = storedOf(exchange, service, "file-", file);
  const body = new JsonBody(call.text, call.members);
  body.set("input_file_id", JSON.stringify(id));
  sendStored(exchange, service, {
    ...{ store, rest: "" },
    body: { type: "application/json", bytes: body.toString() },
    shown: shownBatch(exchange, service, store),
  });
}

/** Members of a batch with ids. */
const IDS: readonly (readonly [string, StoredKind])[] = [
  ["id", "batch_"],
  ["input_file_id", "file-"],
  ["output_file_id", "file-"],
  ["error_file_id", "file-"],
];

function shownBatch(
  exchange: Exchange,
  service: StoreService,
  store: ObjectStore,
): (batch: JsonObject) => JsonObject {
  const owner = idOwner(exchange, service);
  return (batch) => {
    const sealed = IDS.flatMap(([key, kind]) => {
      const id = batch[key];
      return typeof id === "string" ? [[key, idAt(owner, kind, store, id)] as const] : [];
    });
    return { ...batch, ...Object.fromEntries(sealed) };
  };
}
