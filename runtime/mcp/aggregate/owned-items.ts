import type { McpPrimitiveKind } from "../protocol/item-lists.ts";
import type { ListedItem } from "../protocol/list-edit.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import { stringParamOf } from "../protocol/message-edit.ts";
import { addressedPrimitive } from "../protocol/primitives.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import type { Outcome, TargetFailure } from "../protocol/target-failure.ts";
import { isListed } from "../rules/authorization.ts";
import { callerOf, listedItems } from "../rules/lock-check.ts";
import { ClientStream } from "../session/client-stream.ts";
import { featureLetters } from "../session/session.ts";
import { outcomeOf } from "../transports/fan-out.ts";
import type {
  ItemCaller,
  ItemOwners,
  OwnedList,
  OwnedRequest,
  Owners,
  OwningTarget,
} from "../transports/item-owners.ts";
import { listResult } from "./aggregate-lists.ts";
import { failedTarget } from "./failed-target.ts";
import { checkName, isOmitted } from "./omitted-items.ts";

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

/** Items of all targets without prefixes, each once. */
interface FoundItems {
  /** Definitions as JSON text, in the order of the targets. */
  readonly entries: readonly string[];
  /** Names of the targets that failed. */
  readonly missing: readonly string[];
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
    const { exchange, request, timeouts } = owned;
    const stream = new ClientStream(exchange, request.id, timeouts.keepAlive);
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
    else stream.response(rpcResult(request.id, listResult(owned, list, found)));
  }

  async serveItem(owned: OwnedRequest, list: OwnedList): Promise<void> {
    const { exchange, access, request, timeouts } = owned;
    if (this.known({ exchange, jwt: access.jwt }, list) === undefined) {
      const found = await this.#ask(owned, list, () => true);
      if (exchange.isOver) return;
      if ("kind" in found) {
        new ClientStream(exchange, request.id, timeouts.keepAlive).fail(found);
        return;
      }
    }
    owned.forward();
  }

  /**
   * Asks every target for a whole list, and caches which target owns each visible item for this caller. Rules and lock decide
   * first, so that an item that the caller may not use hides no other one. `onMessage` receives what targets send meanwhile.
   */
  async #ask(
    owned: OwnedRequest,
    list: OwnedList,
    onMessage: (target: OwningTarget, message: Message) => boolean,
  ): Promise<FoundItems | TargetFailure> {
    const { exchange, access, request, targets, timeouts, failureMode } = owned;
    const caller = { exchange, jwt: access.jwt };
    const asked = targets.filter(({ features }) => features.includes(featureLetters[list]));
    const responses = await Promise.all(
      asked.map((each) => {
        const ask = async (own: Message): Promise<Outcome> => {
          const outcome = await outcomeOf(
            (sink) => each.call(own, sink),
            timeouts.fanOut,
            (message) => onMessage(each, message),
          );
          return lacksList(outcome) ? emptyList(own, list) : outcome;
        };
        return listedItems({ ask, request }, list);
      }),
    );
    const found = new Map<string, number>();
    const entries: string[] = [];
    const missing: string[] = [];
    const add = ({ index, target }: OwningTarget, item: ListedItem): void => {
      if (!isListed(access, exchange, target.name, item)) return;
      const owner = found.get(item.name);
      if (isOmitted(owned, target, item, owner === index)) return;
      if (owner === undefined) {
        checkName(exchange, target, item, item.name);
        found.set(item.name, index);
        entries.push(item.text);
      } else {
        const first = targets.find((each) => each.index === owner)?.target.name ?? "";
        this.#warn(caller, list, item.name, [first, target.name]);
      }
    };
    for (const [at, each] of asked.entries()) {
      const listed = responses[at] ?? [];
      if (!("kind" in listed)) {
        for (const item of listed) add(each, item);
        continue;
      }
      const isLast = missing.push(each.target.name) === asked.length;
      const named = failedTarget(owned, each.target, listed);
      if (failureMode === "failClosed" || isLast) return named;
    }
    this.#store(caller, list, found);
    return { entries, missing };
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

/** Whether a target has no such list, whatever its capabilities say. */
function lacksList(outcome: Outcome): boolean {
  if (outcome.kind === "failure") return false;
  const { result, text } = outcome.response;
  return result === undefined && text.includes(String(rpcCode.methodNotFound));
}

function emptyList({ id }: Message, list: OwnedList): Outcome {
  const text = rpcResult(id, `{${JSON.stringify(list)}:[]}`);
  return { kind: "response", response: ownMessage(text) };
}
