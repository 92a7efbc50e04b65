import type { Exchange } from "../../http/exchange.ts";
import { applyEdits, type Edit } from "../../json/json-text.ts";
import type { ChatCall } from "../calls/chat-call.ts";
import type { LlmTarget } from "../calls/target.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import { bufferOf } from "../chat/stream-step.ts";
import type { Provider } from "../providers/provider.ts";
import { type FileNames, fileIdsIn } from "./file-ids.ts";
import { knownOwner } from "./object-store.ts";
import { type IdOwner, openId, type StoredPlace } from "./stored-ids.ts";
import { WrittenFilesStream, withWrittenFiles } from "./written-files.ts";

/**
 * Creates a target whose requests may name files by the ids that the gateway gave. The provider gets its own ids. A request
 * with the id of another caller's file, or with one that the gateway did not give, is refused. Files that programs of the model
 * write get ids for the caller.
 */
export function withStoredFiles(target: LlmTarget, names: FileNames): LlmTarget {
  const { forModel } = target;
  // Owners of the files that the programs of a call write.
  const owners = new WeakMap<ChatCall, IdOwner>();
  const writerOf = (call: ChatCall) => {
    const owner = owners.get(call);
    return owner && { owner, names, provider: target.provider };
  };
  return {
    ...target,
    ...(forModel && { forModel: (model, call) => withStoredFiles(forModel(model, call), names) }),
    requestBody: (call, body, exchange) => {
      const written = target.requestBody(call, body, exchange);
      const text = typeof written === "string" ? written : bufferOf(written).toString("utf8");
      if (names.written !== undefined && text.includes(names.written.requestedBy)) {
        const owner = ownerOf(exchange, target.provider);
        if (owner !== undefined) owners.set(call, owner);
      }
      const edits = fileEdits(text, names, exchange, target.provider);
      return edits.length === 0 ? written : applyEdits(text, edits);
    },
    changesResponse: (call) => owners.has(call),
    readWhole: (received, call, model) => {
      const whole = target.readWhole(received, call, model);
      const writer = writerOf(call);
      if (writer === undefined) return whole;
      return { ...whole, text: withWrittenFiles(whole.text ?? received.text, writer) };
    },
    openStream: (call, model) => {
      const stream = target.openStream(call, model);
      const writer = writerOf(call);
      return writer === undefined ? stream : new WrittenFilesStream(stream, writer);
    },
  };
}

function ownerOf(exchange: Exchange, { clientKey }: Provider): IdOwner | undefined {
  return knownOwner(exchange, clientKey !== undefined);
}

/** Returns the replacements of the ids of files. Throws LlmRefusal for an id that the caller may not use here. */
function fileEdits(
  text: string,
  names: FileNames,
  exchange: Exchange,
  provider: Provider,
): readonly Edit[] {
  const ids = fileIdsIn(text, names);
  if (ids.length === 0) return [];
  const owner = ownerOf(exchange, provider);
  return ids.flatMap(({ start, end, id, isWritten }) => {
    const place = owner && openId(owner, names.kind, id);
    // A file that a program has written is no reference: the provider may have given its id.
    if (isWritten && place?.authority !== provider.upstream.authority) return [];
    return [{ start, end, text: JSON.stringify(ownId(id, place, provider)) }];
  });
}

function ownId(id: string, place: StoredPlace | undefined, { upstream }: Provider): string {
  if (place === undefined) {
    const message = `no such file: "${id.slice(0, MAX_SHOWN)}"`;
    throw new LlmRefusal({ kind: "not-found", message, isOfPath: true, field: "file_id" });
  }
  if (place.authority === upstream.authority) return place.id;
  // Another provider of the route may have it.
  const message = "the file is stored at another provider than that of the model";
  throw new LlmRefusal({ kind: "unsupported", message, field: "file_id" });
}

const MAX_SHOWN = 32;
