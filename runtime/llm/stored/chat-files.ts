import type { JsonObject } from "../../cel/variables.ts";
import { bufferBody } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { ChatCall } from "../calls/chat-call.ts";
import { forwardedQuery } from "../calls/forwarded-query.ts";
import { requireOpenModels } from "../calls/open-models.ts";
import { bufferOf } from "../chat/stream-step.ts";
import { boundaryOf, readFormCall } from "../forms/form-call.ts";
import { rewrittenForm } from "../forms/form-target.ts";
import { type Form, type FormPart, parseForm } from "../forms/multipart.ts";
import { passTo, withQuery } from "../pass-through.ts";
import { invalid } from "./batch-requests.ts";
import {
  idAt,
  idOwner,
  type ObjectStore,
  pathBelow,
  pathOfStored,
  type Stored,
  type StoreService,
  storedOf,
} from "./object-store.ts";
import { sendStored } from "./send-stored.ts";
import { noMethod, nothingThere, type StoredPath } from "./serve-stored.ts";
import type { FileKind } from "./stored-ids.ts";

/** A form with a file. */
export interface Upload {
  /** Its other fields. */
  readonly call: ChatCall;
  readonly form: Form;
  readonly file: FormPart;
}

/** Reads a form with one file; `undefined` if its body was refused. Rejects with LlmRefusal. */
export async function readUpload(
  exchange: Exchange,
  service: StoreService,
): Promise<Upload | undefined> {
  // An unknown caller is refused before anything is read.
  idOwner(exchange, service);
  if (exchange.method !== "POST") throw noMethod();
  if (!(await bufferBody(exchange, service.limit))) return undefined;
  const call = readFormCall(exchange);
  const form = parseForm(bufferOf(call.sent.bytes), boundaryOf(exchange) ?? "");
  const [file, ...others] = form.parts.filter(({ isFile }) => isFile);
  if (file?.name !== "file" || others.length > 0)
    throw invalid('one file is needed: "file"', "file");
  return { call, form, file };
}

/** Serves a file of the caller: its facts, or its content through `passContent`. */
export function serveFile(
  exchange: Exchange,
  service: StoreService,
  { kind, id, action, more }: { readonly kind: FileKind; readonly id: string } & StoredPath,
  pass: (stored: Stored) => void,
): void {
  if (more.length > 0) throw nothingThere();
  const stored = storedOf(exchange, service, kind, id);
  const isKnown = action === undefined ? ["GET", "DELETE"] : ["GET"];
  if (!isKnown.includes(exchange.method) || (action ?? "content") !== "content") throw noMethod();
  if (action !== undefined) {
    pass(stored);
    return;
  }
  const { store } = stored;
  const shown = shownFile(exchange, service, store, kind);
  sendStored(exchange, service, { store, rest: pathOfStored(stored), shown });
}

/** Forwards the content of a file unread. `rest`: path below that of the store's API. */
export function passContent(
  exchange: Exchange,
  { timeout }: StoreService,
  store: ObjectStore,
  rest: string,
): void {
  const path = withQuery(pathBelow(store, rest), forwardedQuery(exchange));
  passTo(exchange, store.provider, { path, ...(timeout !== undefined && { timeout }) });
}

/** Refuses a file for models, or of them, if guards would have to read it. */
export function refuseGuarded({ guards }: ObjectStore): void {
  if (guards === undefined) return;
  throw invalid("the models of this route have guards, which cannot read files", "file");
}

/** Stores a file that chats may name. */
export function uploadForChats(
  exchange: Exchange,
  service: StoreService,
  { call, form }: Upload,
  kind: FileKind,
): void {
  const store = storeFor(exchange, service, call);
  refuseGuarded(store);
  const { model, ...fields } = call.body;
  const bytes =
    model === undefined ? form.bytes : rewrittenForm(form, fields, exchange.newBuffer());
  sendStored(exchange, service, {
    ...{ store, rest: "" },
    body: { type: exchange.header("content-type") ?? "", bytes },
    shown: shownFile(exchange, service, store, kind),
  });
}

/** Returns the store of a new object: the provider of the model that its request names, or the only one. */
export function storeFor(
  exchange: Exchange,
  { stores, endpoints }: StoreService,
  call: ChatCall,
): ObjectStore {
  const [first, ...others] = stores;
  if (call.model === undefined) {
    const isSame = ({ provider: { upstream } }: ObjectStore): boolean =>
      upstream.authority === first?.provider.upstream.authority;
    if (first !== undefined && others.every(isSame)) return first;
    throw invalid('"model" is missing: its provider stores the object', "model");
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

/** Returns a function that gives the caller its own id of a file. */
export function shownFile(
  exchange: Exchange,
  service: StoreService,
  store: ObjectStore,
  kind: FileKind,
): (file: JsonObject) => JsonObject {
  const owner = idOwner(exchange, service);
  return (file) =>
    typeof file.id === "string" ? { ...file, id: idAt(owner, kind, store, file.id) } : file;
}
