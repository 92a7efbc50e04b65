import type { McpPrimitiveKind } from "../protocol/item-lists.ts";
import type { Message } from "../protocol/message.ts";
import { stringParamOf } from "../protocol/message-edit.ts";
import { addressedPrimitive } from "../protocol/primitives.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { callerOf } from "../rules/lock-check.ts";
import { ClientStream } from "../session/client-stream.ts";
import type {
  ItemCaller,
  ItemOwners,
  OwnedList,
  OwnedRequest,
  Owners,
  OwningTarget,
} from "../transports/item-owners.ts";
import { listResult } from "./aggregate-lists.ts";
import { entriesOf, type WholeList, wholeList } from "./whole-list.ts";

/** Milliseconds for which the owners of a list's items are valid. */
const MAX_AGE = 10_000;

/** Maximum number of cached lists of callers. */
const MAX_LISTS = 1000;

/** Maximum number of names with a warning; a target may invent any number. */
const MAX_WARNINGS = 1000;

/** Creates the table for a backend. */
export function itemOwners(): ItemOwners {
  return new OwnedItems();
}

/**
 * The owners of items, as far as their callers have seen them. An item that several targets have belongs to the first of
 * these, in the order of the configuration.
 */
class OwnedItems implements ItemOwners {
  readonly #lists = new Map<string, { readonly at: number; readonly owners: Owners }>();
  readonly #warned = new Set<string>();

  listOf(kind: McpPrimitiveKind): OwnedList | undefined {
    if (kind === "resource") return undefined;
    return kind === "tool" ? "tools" : "prompts";
  }

  listFor(message: Message): OwnedList | undefined {
    if (message.kind !== "request") return undefined;
    const addressed = addressedPrimitive(message);
    return addressed?.kind === "item" ? this.listOf(addressed.item.kind) : undefined;
  }

  known(caller: ItemCaller, list: OwnedList): Owners | undefined {
    const seen = this.#lists.get(keyOf(caller, list));
    return seen === undefined || Date.now() - seen.at >= MAX_AGE ? undefined : seen.owners;
  }

  notice({ method }: Message): void {
    const list = CHANGED_LISTS.get(method);
    if (list === undefined) return;
    for (const key of this.#lists.keys()) {
      if (key.startsWith(`${list}\n`)) this.#lists.delete(key);
    }
  }

  async serveList(owned: OwnedRequest, list: OwnedList): Promise<void> {
    const { exchange, backend, request } = owned;
    const stream = new ClientStream(exchange, request.id, backend.timeouts.keepAlive);
    // Pages of single targets could repeat items of others.
    if (stringParamOf(request, "cursor") !== undefined) {
      stream.response(rpcError(request.id, rpcCode.invalidParams, "Invalid cursor"));
      return;
    }
    const found = await this.#ask(owned, list, (target, message) => {
      const shown = target.forClient(message);
      return shown === undefined || stream.message(shown.text);
    });
    if (exchange.isOver) return;
    if ("kind" in found) stream.fail(found);
    else stream.response(rpcResult(request.id, listResult(owned, list, entriesOf(owned, found))));
  }

  async serveItem(owned: OwnedRequest, list: OwnedList): Promise<void> {
    const { exchange, backend, access, request } = owned;
    if (this.known({ exchange, jwt: access.jwt }, list) === undefined) {
      const found = await this.#ask(owned, list, () => true);
      if (exchange.isOver) return;
      if ("kind" in found) {
        new ClientStream(exchange, request.id, backend.timeouts.keepAlive).fail(found);
        return;
      }
    }
    owned.forward();
  }

  /**
   * Asks every target for a whole list, and caches which target owns each visible item for this caller. `onMessage` receives
   * what targets send meanwhile.
   */
  async #ask(
    owned: OwnedRequest,
    list: OwnedList,
    onMessage: (target: OwningTarget, message: Message) => boolean,
  ): Promise<WholeList | TargetFailure> {
    const caller = { exchange: owned.exchange, jwt: owned.access.jwt };
    const found = await wholeList(owned, list, {
      onMessage,
      onHidden: (name, { target: { name: first } }, { target }) =>
        this.#warn(caller, list, name, [first, target.name]),
    });
    if (!("kind" in found)) {
      const owners = found.items.map(({ name, owner }) => [name, owner.index] as const);
      this.#store(caller, list, new Map(owners));
    }
    return found;
  }

  /** Caches the owners for a caller. Drops the least recently stored ones. */
  #store(caller: ItemCaller, list: OwnedList, owners: Owners): void {
    const key = keyOf(caller, list);
    this.#lists.delete(key);
    this.#lists.set(key, { at: Date.now(), owners });
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MAX_LISTS && oldest !== undefined) this.#lists.delete(oldest);
  }

  /** Warns once that a target's item is hidden by another target's item of the same name. */
  #warn(
    { exchange }: ItemCaller,
    list: OwnedList,
    name: string,
    [first, second]: TargetPair,
  ): void {
    const key = `${list}\n${second}\n${name}`;
    if (this.#warned.has(key) || this.#warned.size >= MAX_WARNINGS) return;
    this.#warned.add(key);
    const shown = JSON.stringify(name);
    exchange.gateway.warn(
      `prefixMode never: ${shown} of ${second} is hidden, because ${first} has ${shown}, too (${list})`,
    );
  }
}

/** Names of the target that owns an item, and of another one with an item of that name. */
type TargetPair = readonly [owner: string, other: string];

const CHANGED_LISTS: ReadonlyMap<string, OwnedList> = new Map([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/prompts/list_changed", "prompts"],
]);

function keyOf({ exchange, jwt }: ItemCaller, list: OwnedList): string {
  return `${list}\n${callerOf(exchange, jwt)}`;
}
