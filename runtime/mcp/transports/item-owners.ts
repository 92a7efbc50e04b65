import type { JwtVariable } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { McpPrimitiveKind } from "../protocol/item-lists.ts";
import type { Message } from "../protocol/message.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import type { Call, CallSink, McpTarget } from "./target.ts";

/** A client of an endpoint; servers may show different lists to different clients. */
export interface ItemCaller {
  readonly exchange: Exchange;
  readonly jwt: JwtVariable;
}

/** Indexes of targets, by the name of an item. */
export type Owners = ReadonlyMap<string, number>;

/** The lists of items whose names have no prefix. URIs of resources contain their target. */
export type OwnedList = "tools" | "prompts";

/** The parts of a backend on which its lists depend. */
export interface ListedBackend {
  readonly prefix?: boolean;
  readonly owners?: ItemOwners;
  readonly failureMode: "failClosed" | "failOpen";
  /** Milliseconds. */
  readonly timeouts: { readonly fanOut: number; readonly keepAlive: number };
}

/** A request for such a list, or for an item of it. */
export interface OwnedRequest {
  readonly exchange: Exchange;
  readonly backend: ListedBackend;
  readonly access: McpAuthorization;
  readonly request: Message;
  readonly isStateless: boolean;
  /** All targets that take part in the session. */
  readonly targets: readonly OwningTarget[];
  /** Names of the targets that take no part in it, because they failed when it was opened. */
  readonly excluded: readonly string[];
  /** Forwards the request to the target that owns the item, which is known now, if the rules permit the item. */
  forward(): void;
}

/** A target that may own items. */
export interface OwningTarget {
  readonly index: number;
  readonly target: McpTarget;
  /** The letters of its features (see session.ts). */
  readonly features: string;
  call(request: Message, sink: CallSink): Call;
  /** Returns a message of the target as the client sees it; `undefined` if it is hidden. */
  forClient(message: Message): Message | undefined;
}

/** The targets of tools and prompts whose names have no prefix (`prefixMode: never`). */
export interface ItemOwners {
  /** Returns the list with the owners of items of a kind; `undefined` if their names contain the target. */
  listOf(kind: McpPrimitiveKind): OwnedList | undefined;
  /** Returns the list that decides which target a request is for; `undefined` if its name or method decides. */
  listFor(message: Message): OwnedList | undefined;
  /** Returns the owners for a caller; `undefined` if the targets must be asked. */
  known(caller: ItemCaller, list: OwnedList): Owners | undefined;
  /** Drops the owners of a list if a target's message announces that it has changed. */
  notice(message: Message): void;
  /** Requests a whole list from every target, and responds with each visible item once, under its own name. */
  serveList(owned: OwnedRequest, list: OwnedList): void;
  /** Forwards a request for an item, once its target is known and the rules permit the item. */
  serveItem(owned: OwnedRequest, list: OwnedList): void;
}
