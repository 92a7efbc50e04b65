import type { JsonObject } from "../../cel/variables.ts";
import { bufferBody } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { JsonBody } from "../../json/json-body.ts";
import { readCall, readCallOf } from "../calls/chat-call.ts";
import { passTo } from "../pass-through.ts";
import { BatchRequests, invalid } from "./batch-requests.ts";
import { MESSAGE_RESULTS, resultReader } from "./batch-results.ts";
import {
  idAt,
  idOwner,
  type ObjectStore,
  pathBelow,
  pathOfStored,
  type StoreService,
  storedOf,
} from "./object-store.ts";
import { sendStored } from "./send-stored.ts";
import { noMethod, nothingThere, refuseLists, serveBelow } from "./serve-stored.ts";

/** Serves batches of Anthropic's Messages API. `api`: path of the API. */
export function serveMessageBatches(
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
    const isKnown = METHODS.get(action ?? "")?.includes(exchange.method) === true;
    if (!isKnown) throw noMethod();
    const stored = storedOf(exchange, service, "msgbatch_", id);
    const { store } = stored;
    const rest = pathOfStored(stored, action);
    if (action === "results") {
      const { timeout } = service;
      const path = pathBelow(store, rest);
      const reader = resultReader(exchange, service, stored, MESSAGE_RESULTS);
      passTo(exchange, store.provider, { path, reader, ...(timeout !== undefined && { timeout }) });
      return;
    }
    sendStored(exchange, service, { store, rest, shown: shownBatch(exchange, service, store) });
  });
}

/** Methods of the path of a batch, and of those below it. */
const METHODS: ReadonlyMap<string, readonly string[]> = new Map([
  ["", ["GET", "DELETE"]],
  ["cancel", ["POST"]],
  ["results", ["GET"]],
]);

async function create(exchange: Exchange, service: StoreService): Promise<void> {
  idOwner(exchange, service);
  if (exchange.method !== "POST") throw noMethod();
  if (!(await bufferBody(exchange, service.limit))) return;
  const call = readCall(exchange);
  const { requests: given } = call.body;
  const [messages] = Object.values(service.endpoints);
  if (!Array.isArray(given) || messages === undefined)
    throw invalid('"requests" must be a list', "requests");
  const requests = new BatchRequests(exchange, service.stores);
  // Numbers in messages are those of coordinates and limits, which doubles hold.
  const items: string[] = [];
  for (const each of given) {
    const item = readCallOf(exchange, Buffer.from(JSON.stringify(each)));
    items.push(await requests.add(item, "params", messages));
  }
  const { store } = requests;
  if (!(await requests.expect())) return;
  const body = new JsonBody(call.text, call.members);
  body.set("requests", `[${items.join(",")}]`);
  sendStored(exchange, service, {
    ...{ store, rest: "" },
    body: { type: "application/json", bytes: body.toString() },
    shown: shownBatch(exchange, service, store),
    onDone: () => requests.charge(),
  });
}

/**
 * Clients download results at the URL in a batch. It becomes a path, which they take below their base URL: the gateway does not
 * know its own address behind other proxies.
 */
function shownBatch(
  exchange: Exchange,
  service: StoreService,
  store: ObjectStore,
): (batch: JsonObject) => JsonObject {
  const owner = idOwner(exchange, service);
  return (batch) => {
    if (typeof batch.id !== "string") return batch;
    const id = idAt(owner, "msgbatch_", store, batch.id);
    const results = `/v1/messages/batches/${id}/results`;
    return {
      ...batch,
      id,
      ...(typeof batch.results_url === "string" && { results_url: results }),
    };
  };
}
