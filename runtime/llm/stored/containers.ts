import type { JsonObject } from "../../cel/variables.ts";
import { bufferBody } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { JsonBody } from "../../json/json-body.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { applyEdits } from "../../json/json-text.ts";
import { readCall } from "../calls/chat-call.ts";
import { boundaryOf } from "../forms/form-call.ts";
import { invalid } from "./batch-requests.ts";
import { passContent, readUpload, refuseGuarded, storeFor } from "./chat-files.ts";
import {
  idAt,
  idOwner,
  type ObjectStore,
  pathOfStored,
  type Stored,
  type StoreService,
  storedOf,
} from "./object-store.ts";
import { ownIdEdits } from "./own-ids.ts";
import { type StoreRequest, sendStored } from "./send-stored.ts";
import {
  noMethod,
  nothingThere,
  refuseLists,
  type StoredPath,
  serveBelow,
} from "./serve-stored.ts";

/** Serves containers of OpenAI, in which programs of models run, and their files. `api`: path of the API. */
export function serveContainers(
  exchange: Exchange,
  service: StoreService,
  api: string,
): Promise<void> {
  return serveBelow(exchange, service, api, async (path) => {
    const { id, action } = path;
    if (id === undefined) {
      if (exchange.method === "GET") throw refuseLists("containers");
      await create(exchange, service);
      return;
    }
    const stored = storedOf(exchange, service, "cntr_", id);
    if (action === "files") await serveFilesOf(exchange, service, stored, path);
    else if (action !== undefined) throw nothingThere();
    else if (!["GET", "DELETE"].includes(exchange.method)) throw noMethod();
    else {
      const { store } = stored;
      const shown = shownContainer(exchange, service, store);
      sendStored(exchange, service, { store, rest: pathOfStored(stored), shown });
    }
  });
}

async function create(exchange: Exchange, service: StoreService): Promise<void> {
  idOwner(exchange, service);
  if (exchange.method !== "POST") throw noMethod();
  if (!(await bufferBody(exchange, service.limit))) return;
  const call = readCall(exchange);
  const store = storeFor(exchange, service, call);
  const body = new JsonBody(call.text, call.members);
  body.delete("model");
  sendStored(exchange, service, {
    ...{ store, rest: "" },
    body: ownJson(exchange, service, store, body.toString()),
    shown: shownContainer(exchange, service, store),
  });
}

/** Files of a container. It is the caller's, so that all of them are. */
async function serveFilesOf(
  exchange: Exchange,
  service: StoreService,
  stored: Stored,
  { more: [file, content, ...others] }: StoredPath,
): Promise<void> {
  const { store } = stored;
  const { method } = exchange;
  if (others.length > 0 || (content ?? "content") !== "content") throw nothingThere();
  const rest = pathOfStored(stored, ["files", file, content].filter(isPresent).join("/"));
  if (content !== undefined) {
    if (method !== "GET") throw noMethod();
    refuseGuarded(store);
    passContent(exchange, service, store, rest);
    return;
  }
  const methods = file === undefined ? ["GET", "POST"] : ["GET", "DELETE"];
  if (!methods.includes(method)) throw noMethod();
  const shown = shownFiles(exchange, service, store);
  if (method !== "POST") {
    sendStored(exchange, service, { store, rest, shown });
    return;
  }
  const body = await addedFile(exchange, service, store);
  if (body !== undefined) sendStored(exchange, service, { store, rest, body, shown });
}

/** Reads the request that adds a file; `undefined` if its body was refused. */
async function addedFile(
  exchange: Exchange,
  service: StoreService,
  store: ObjectStore,
): Promise<StoreRequest["body"]> {
  refuseGuarded(store);
  if (boundaryOf(exchange) === undefined) {
    if (!(await bufferBody(exchange, service.limit))) return undefined;
    return ownJson(exchange, service, store, readCall(exchange).text);
  }
  const uploaded = await readUpload(exchange, service);
  if (uploaded === undefined) return undefined;
  const { call, form } = uploaded;
  const [other] = Object.keys(call.body);
  // A file that is named by its id would be another caller's.
  if (other !== undefined) throw invalid(`"${other}" is not supported next to a file`, other);
  return { type: exchange.header("content-type") ?? "", bytes: form.bytes };
}

/** Returns a body in which files of the caller have the ids of the provider. */
function ownJson(
  exchange: Exchange,
  { ids }: StoreService,
  { provider }: ObjectStore,
  text: string,
): NonNullable<StoreRequest["body"]> {
  const edits = ids === undefined ? [] : ownIdEdits(text, ids.requests, exchange, { provider });
  return { type: "application/json", bytes: applyEdits(text, edits) };
}

type Shown = StoreRequest["shown"];

function shownContainer(exchange: Exchange, service: StoreService, store: ObjectStore): Shown {
  const idFor = ownIdFor(exchange, service, store);
  return (container) => ({ ...container, id: idFor(container.id) });
}

/** Returns the function that gives the caller a file of a container, or a list of them. */
function shownFiles(exchange: Exchange, service: StoreService, store: ObjectStore): Shown {
  const idFor = ownIdFor(exchange, service, store);
  const shown = (file: JsonObject): JsonObject =>
    file.container_id === undefined ? file : { ...file, container_id: idFor(file.container_id) };
  return (file) => {
    const { data } = file;
    if (!Array.isArray(data)) return shown(file);
    return { ...file, data: data.map((each) => (isJsonObject(each) ? shown(each) : each)) };
  };
}

function ownIdFor(
  exchange: Exchange,
  service: StoreService,
  store: ObjectStore,
): (id: unknown) => unknown {
  const owner = idOwner(exchange, service);
  return (id) => (typeof id === "string" ? idAt(owner, "cntr_", store, id) : id);
}

function isPresent(part: string | undefined): part is string {
  return part !== undefined;
}
