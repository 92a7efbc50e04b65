import type { Exchange } from "../../http/exchange.ts";
import { applyEdits, type Edit } from "../../json/json-text.ts";
import type { ChatCall } from "../calls/chat-call.ts";
import type { LlmTarget } from "../calls/target.ts";
import { type LlmError, LlmRefusal } from "../chat/llm-error.ts";
import { bufferOf } from "../chat/stream-step.ts";
import type { PromptGuard } from "../guards/prompt-guard.ts";
import type { Provider } from "../providers/provider.ts";
import { givingIds } from "./given-ids.ts";
import { type ApiIds, type IdNames, idsIn, type ObjectId } from "./object-ids.ts";
import { knownOwner } from "./object-store.ts";
import { type IdOwner, openId, type StoredPlace, unknownItem } from "./stored-ids.ts";

/**
 * Creates a target whose requests may name stored objects by the ids that the gateway gave. The provider gets its own ids. A
 * request with the id of another caller's object, or with one that the gateway did not give, is refused. Objects of responses
 * get ids for the caller.
 */
export function withOwnIds(target: LlmTarget, ids: ApiIds): LlmTarget {
  const { forModel, provider } = target;
  // Owners of the objects in the responses to calls.
  const owners = new WeakMap<ChatCall, IdOwner>();
  const receiverOf = (call: ChatCall) => {
    const owner = owners.get(call);
    return owner && ids.responses && { owner, names: ids.responses, provider };
  };
  return {
    ...givingIds(target, receiverOf),
    ...(forModel && { forModel: (model, call) => withOwnIds(forModel(model, call), ids) }),
    requestBody: (call, body, exchange) => {
      const written = target.requestBody(call, body, exchange);
      // Forms have files themselves.
      if (target.typeOf?.(exchange) !== undefined) return written;
      const text = typeof written === "string" ? written : bufferOf(written).toString("utf8");
      if (target.isNative && ids.responses?.isDueTo(text) === true) {
        const owner = ownerAt(exchange, provider);
        if (owner !== undefined) owners.set(call, owner);
      }
      const edits = ownIdEdits(text, ids.requests, exchange, target);
      return edits.length === 0 ? written : applyEdits(text, edits);
    },
  };
}

/** Returns the owner of the ids of a request to a provider; `undefined` if the caller is not known. */
export function ownerAt(exchange: Exchange, { clientKey }: Provider): IdOwner | undefined {
  return knownOwner(exchange, clientKey !== undefined);
}

/** Use of the ids of a request. */
interface IdUse {
  readonly provider: Provider;
  /** Guards of the model; absent if there are none. */
  readonly guard?: PromptGuard;
}

/**
 * Returns the replacements of the ids in a request. Throws LlmRefusal for an id that the caller may not use at a provider, and
 * for files of models with guards.
 */
export function ownIdEdits(
  text: string,
  names: IdNames,
  exchange: Exchange,
  { provider, guard }: IdUse,
): readonly Edit[] {
  const ids = idsIn(text, names);
  if (ids.length === 0) return [];
  const owner = ownerAt(exchange, provider);
  return ids.flatMap((each) => {
    const { start, end, id, kind, isQuoted, isCopy } = each;
    const place = owner && openId(owner, kind, id);
    const isHere = place?.authority === provider.upstream.authority;
    if (isQuoted && !isHere) return [];
    if (guard !== undefined && FILES.has(kind)) throw new LlmRefusal(UNREAD);
    const own = isCopy && !isHere ? copiedId(each, place) : ownId(each, place, provider);
    return own === id ? [] : [{ start, end, text: JSON.stringify(own) }];
  });
}

/** Returns the id of an item that a provider has not given to the caller: the provider must not find an item with it. */
function copiedId({ id, isEncrypted }: ObjectId, place: StoredPlace | undefined): string {
  if (isEncrypted) return place?.id ?? id;
  return unknownItem(place?.id ?? id);
}

function ownId(
  { id, kind }: ObjectId,
  place: StoredPlace | undefined,
  { upstream }: Provider,
): string {
  const [what, field] = KINDS[kind];
  if (kind === "conv_") throw new LlmRefusal({ kind: "unsupported", message: SHARED, field });
  if (place === undefined) {
    const message = `no such ${what}: "${id.slice(0, MAX_SHOWN)}"`;
    throw new LlmRefusal({ kind: "not-found", message, isOfPath: true, field });
  }
  if (place.authority === upstream.authority) return place.id;
  // Another provider of the route may have it.
  const message = `the ${what} is stored at another provider than that of the model`;
  throw new LlmRefusal({ kind: "unsupported", message, field });
}

/** Kinds of objects whose contents guards would have to read. */
const FILES: ReadonlySet<ObjectId["kind"]> = new Set(["file-", "file_"]);

const UNREAD: LlmError = {
  kind: "invalid",
  message: "the model has guards, which cannot read files",
  field: "file_id",
};

const SHARED =
  "conversations are stored for all callers with the provider's key: continue with previous_response_id";

/** Words for the kinds of objects that requests name, and their fields. */
const KINDS: Readonly<Record<ObjectId["kind"], readonly [what: string, field: string]>> = {
  "file-": ["file", "file_id"],
  file_: ["file", "file_id"],
  cntr_: ["container", "container"],
  container_: ["container", "container"],
  resp_: ["response", "previous_response_id"],
  conv_: ["conversation", "conversation"],
  item: ["item", "input"],
  batch_: ["batch", "batch_id"],
  msgbatch_: ["batch", "batch_id"],
};

const MAX_SHOWN = 32;
