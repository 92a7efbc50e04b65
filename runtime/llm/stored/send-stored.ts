import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { withoutHeaders } from "../../http/headers/header-list.ts";
import { attempt } from "../calls/attempt.ts";
import { passedHeaders } from "../calls/call-headers.ts";
import { ChatCall } from "../calls/chat-call.ts";
import { forwardedQuery } from "../calls/forwarded-query.ts";
import { nativeTarget } from "../calls/native-target.ts";
import { recordProvider } from "../calls/record-call.ts";
import { respondFailedCall, respondLateRefusal } from "../calls/respond-failed-call.ts";
import { parseObject } from "../formats/parse-object.ts";
import { withQuery } from "../pass-through.ts";
import { BODY_HEADERS } from "../providers/provider.ts";
import { type ObjectStore, pathBelow, type StoreService } from "./object-store.ts";

/** A request for a stored object. */
export interface StoreRequest {
  readonly store: ObjectStore;
  /** Path below that of the store's API. */
  readonly rest: string;
  /** Body, and its type; absent without a body. */
  readonly body?: { readonly type: string; readonly bytes: string | Uint8Array };
  /** Returns the object for the client: with other ids. */
  readonly shown: (object: JsonObject) => JsonObject;
  /** Called after the provider has accepted the request; absent if nothing follows. */
  readonly onDone?: () => void;
}

/** Sends a request for a stored object, and its response to the client. */
export function sendStored(
  exchange: Exchange,
  { format, timeout, providerHeader }: StoreService,
  { store, rest, body, shown, onDone }: StoreRequest,
): void {
  const { provider } = store;
  const path = withQuery(pathBelow(store, rest), forwardedQuery(exchange));
  const target = {
    ...nativeTarget({ provider, path, format }),
    isNative: false,
    readWhole: ({ text }: { readonly text: string }) => {
      const object = parseObject(text);
      if (object === undefined) throw new Error("the response is not a JSON object");
      return { text: JSON.stringify(shown(object)), facts: { counted: 0 } };
    },
  };
  recordProvider(exchange, provider);
  const passed = withoutHeaders(passedHeaders(exchange, provider, path), OF_BODY);
  const own = body === undefined ? ENCODING : ["content-type", body.type, ...ENCODING];
  const request = {
    method: exchange.method,
    path: provider.upstream.basePath + path,
    headers: [...passed, ...own],
    body: body?.bytes ?? null,
  };
  attempt(request, {
    exchange,
    call: emptyCall(exchange),
    target,
    model: "",
    headers: provider.shown.in(providerHeader),
    timeout,
    keepAlive: undefined,
    errors: format,
    guard: undefined,
    settle: (outcome) => {
      if (outcome.kind === "responded" && outcome.error === undefined) onDone?.();
      if (outcome.kind !== "failed") return;
      respondFailedCall(
        exchange,
        { ...outcome, target },
        { guards: undefined, errors: format },
      ).catch((error) => respondLateRefusal(exchange, error, format));
    },
  });
}

const [, , ...ENCODING] = BODY_HEADERS;
const OF_BODY: ReadonlySet<string> = new Set([
  ...["content-type", "content-encoding", "content-length", "accept-encoding"],
]);

function emptyCall(exchange: Exchange): ChatCall {
  return new ChatCall({
    text: "{}",
    sent: { text: "", bytes: new Uint8Array() },
    members: [],
    model: undefined,
    isStream: false,
    client: exchange,
    body: {},
  });
}
