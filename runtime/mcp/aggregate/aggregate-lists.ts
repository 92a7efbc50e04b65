import { stringAt } from "../../json/json-text.ts";
import { ITEM_LIST_NAMES, type ItemList, itemLists } from "../protocol/item-lists.ts";
import { type ListedItem, readLists } from "../protocol/list-edit.ts";
import type { Message } from "../protocol/message.ts";
import { paramOf, stringParamOf } from "../protocol/message-edit.ts";
import { readFields } from "../protocol/message-fields.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import type { Outcome, TargetFailure } from "../protocol/target-failure.ts";
import { listFailure } from "../protocol/target-failure.ts";
import { hidesNothing, isListed, type McpAuthorization } from "../rules/authorization.ts";
import { ClientStream } from "../session/client-stream.ts";
import { featureLetters } from "../session/session.ts";
import {
  type ActiveTarget,
  activeTargets,
  callTarget,
  excludedTargets,
  isStateless,
  type SessionContext,
} from "../session/session-context.ts";
import { fanOut } from "../transports/fan-out.ts";
import { errorOf } from "../transports/http-call.ts";
import { withAppUris } from "./app-uris.ts";
import { CacheHints } from "./cache-hints.ts";
import { failedTarget } from "./failed-target.ts";
import { forwardTo } from "./forward-call.ts";
import { UNAVAILABLE_META } from "./initialize-result.ts";
import { clientName } from "./names.ts";
import { checkName, isOmitted } from "./omitted-items.ts";
import { withCursor } from "./to-server.ts";

/** A list that is merged from several targets. */
export interface AggregateList {
  /** The member of the result. */
  readonly field: ItemList;
  /** The capability that a target needs to be called. */
  readonly feature: string;
}

/** The list methods of MCP. */
export const aggregateLists: ReadonlyMap<string, AggregateList> = new Map(
  ITEM_LIST_NAMES.map((field) => {
    const { method, capability } = itemLists[field];
    return [method, { field, feature: featureLetters[capability] }];
  }),
);

/** Requests the list from every target with such items, and responds with the visible items under the client's names. */
export function serveAggregateList(
  context: SessionContext,
  request: Message,
  list: AggregateList,
): void {
  const { exchange, backend } = context;
  const stream = new ClientStream(exchange, request.id, backend.timeouts.keepAlive);
  const cursor = stringParamOf(request, "cursor");
  const places = cursor === undefined ? undefined : readCursor(cursor);
  if (cursor !== undefined && places === undefined) {
    stream.response(rpcError(request.id, rpcCode.invalidParams, "Invalid cursor"));
    return;
  }
  const asked = activeTargets(context).filter(
    ({ index, session }) =>
      session.features.includes(list.feature) && (places === undefined || places.has(index)),
  );
  const call = fanOut(
    asked.map((active) => (sink) => {
      const at = paramOf(request, "cursor");
      const place = places?.get(active.index);
      const own =
        at === undefined || place === undefined ? request : withCursor(request, at, place);
      return callTarget(context, active, own, sink);
    }),
    {
      deadline: backend.timeouts.fanOut,
      onMessage: (at, message) => forwardTo(stream, asked[at], context, message),
      onDone: (outcomes) => {
        const merged = new Merge(context, request, list).merge(asked, outcomes);
        if (typeof merged === "string") stream.response(merged);
        else stream.fail(merged);
      },
    },
  );
  stream.onDrain(() => call.resume());
  exchange.onAbort(() => call.cancel());
}

/** Writes the result of a merged list. */
export function listResult(
  { access, isStateless }: ListReader,
  list: ItemList,
  { entries, missing, next, hints = new CacheHints() }: MergedList,
): string {
  let text = `{${JSON.stringify(list)}:[${entries.join(",")}]`;
  if (next !== undefined) text += `,"nextCursor":${JSON.stringify(next)}`;
  if (isStateless) {
    text += `,"resultType":"complete",${hints.members(hidesNothing(access))}`;
  }
  if (missing.length > 0) text += `,"_meta":${JSON.stringify({ [UNAVAILABLE_META]: missing })}`;
  return `${text}}`;
}

/** The client that a list is for. */
interface ListReader {
  readonly access: McpAuthorization;
  readonly isStateless: boolean;
}

interface MergedList {
  /** Definitions as JSON text, in the order of the targets. */
  readonly entries: readonly string[];
  /** Names of the targets that failed. */
  readonly missing: readonly string[];
  /** Cursor of the next page; absent if there is none. */
  readonly next?: string | undefined;
  readonly hints?: CacheHints;
}

/** Merges the pages of several targets. */
class Merge {
  readonly #context: SessionContext;
  readonly #request: Message;
  readonly #list: AggregateList;
  readonly #entries: string[] = [];
  readonly #next = new Map<number, string>();
  readonly #missing: string[] = [];
  readonly #hints = new CacheHints();
  /** Indexes of targets with the names of their items. */
  readonly #seen = new Set<string>();

  constructor(context: SessionContext, request: Message, list: AggregateList) {
    this.#context = context;
    this.#request = request;
    this.#list = list;
  }

  /** Returns the response as JSON text, or the failure. */
  merge(asked: readonly ActiveTarget[], outcomes: readonly Outcome[]): string | TargetFailure {
    for (const [at, active] of asked.entries()) {
      const outcome = outcomes[at];
      const failure = outcome === undefined ? noOutcome : this.#add(active, outcome);
      if (failure === undefined) continue;
      const { backend } = this.#context;
      const named = failedTarget(this.#context, active.target, failure);
      const isLast = this.#missing.push(active.target.name) === asked.length;
      if (backend.failureMode === "failClosed" || isLast) return named;
    }
    return rpcResult(this.#request.id, this.#result());
  }

  #add(active: ActiveTarget, outcome: Outcome): TargetFailure | undefined {
    if (outcome.kind === "failure") return outcome.failure;
    const { response } = outcome;
    if (response.result === undefined) {
      // The target has no such list, whatever its capabilities say.
      if (response.text.includes(String(rpcCode.methodNotFound))) return undefined;
      return { ...listFailure, ...errorOf(response) };
    }
    const lists = readLists(response, (item) => this.#shownName(active, item));
    if (typeof lists === "string") return { kind: "protocol", detail: lists };
    for (const { field, entries } of lists) {
      if (field !== this.#list.field) continue;
      this.#entries.push(...entries.map((entry) => this.#shownEntry(active, entry)));
    }
    const fields = readFields(response.text, response.result.start, new Set(["nextCursor"]));
    const cursor = typeof fields === "string" ? undefined : fields.get("nextCursor");
    if (typeof fields !== "string") this.#hints.add(response.text, fields);
    const next = stringAt(response.text, cursor);
    if (next !== undefined) this.#next.set(active.index, next);
    return undefined;
  }

  #shownEntry({ target }: ActiveTarget, entry: string): string {
    const shown = withAppUris(entry, target.name);
    return this.#context.backend.narrowApps?.(shown) ?? shown;
  }

  #shownName({ index, target }: ActiveTarget, item: ListedItem): string | undefined {
    const { exchange, backend, access } = this.#context;
    if (!isListed(access, exchange, target.name, item)) return undefined;
    const key = `${index} ${item.name}`;
    const reader = { exchange, isStateless: isStateless(this.#context) };
    if (isOmitted(reader, target, item, this.#seen.has(key))) return undefined;
    this.#seen.add(key);
    const name = clientName(backend, target, item.kind, item.name);
    checkName(exchange, target, item, name);
    return name;
  }

  #result(): string {
    const next = this.#next.size > 0 ? writeCursor(this.#next) : undefined;
    const missing = [...excludedTargets(this.#context), ...this.#missing];
    const merged = { entries: this.#entries, missing, next, hints: this.#hints };
    const { access } = this.#context;
    const reader = { access, isStateless: isStateless(this.#context) };
    return listResult(reader, this.#list.field, merged);
  }
}

const noOutcome: TargetFailure = { kind: "protocol", detail: "no outcome" };

/** Encodes each target's own cursor by index of the target. */
function writeCursor(places: ReadonlyMap<number, string>): string {
  return Buffer.from(JSON.stringify([...places])).toString("base64url");
}

function readCursor(cursor: string): ReadonlyMap<number, string> | undefined {
  try {
    const places: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (!Array.isArray(places)) return undefined;
    const byIndex = new Map<number, string>();
    for (const place of places) {
      if (!Array.isArray(place) || typeof place[0] !== "number" || typeof place[1] !== "string") {
        return undefined;
      }
      byIndex.set(place[0], place[1]);
    }
    return byIndex;
  } catch {
    return undefined;
  }
}
