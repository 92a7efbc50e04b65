import type { JwtVariable } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { ItemList, McpPrimitiveKind } from "../protocol/item-lists.ts";
import { callerOf } from "../rules/lock-check.ts";

/** A client of an endpoint; servers may show different lists to different clients. */
export interface ItemCaller {
  readonly exchange: Exchange;
  readonly jwt: JwtVariable;
}

/** Milliseconds for which the owners of a list's items are valid. */
const MAX_AGE = 10_000;

/** Maximum number of cached lists of callers. */
const MAX_LISTS = 1000;

/** Maximum number of names with a warning; a target may invent any number. */
const MAX_WARNINGS = 1000;

/** Indexes of targets, by the name of an item. */
export type Owners = ReadonlyMap<string, number>;

/**
 * The targets of tools and prompts whose names have no prefix (`prefixMode: never`), as far as their callers have seen them.
 * An item that several targets have belongs to the first of these, in the order of the configuration.
 */
export class ItemOwners {
  readonly #lists = new Map<string, { readonly at: number; readonly owners: Owners }>();
  readonly #warned = new Set<string>();

  /** Returns the list with the owners of items of a kind; `undefined` for resources, whose URIs contain their target. */
  listOf(kind: McpPrimitiveKind): "tools" | "prompts" | undefined {
    if (kind === "resource") return undefined;
    return kind === "tool" ? "tools" : "prompts";
  }

  /** Returns the owners for a caller; `undefined` if the targets must be asked. */
  known(caller: ItemCaller, list: ItemList): Owners | undefined {
    const seen = this.#lists.get(keyOf(caller, list));
    return seen === undefined || Date.now() - seen.at >= MAX_AGE ? undefined : seen.owners;
  }

  /** Caches the owners for a caller. Drops the least recently stored ones. */
  store(caller: ItemCaller, list: ItemList, owners: Owners): void {
    const key = keyOf(caller, list);
    this.#lists.delete(key);
    this.#lists.set(key, { at: Date.now(), owners });
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MAX_LISTS && oldest !== undefined) this.#lists.delete(oldest);
  }

  /** Drops the owners of a list after a target has announced a change. */
  forget(list: ItemList): void {
    for (const key of this.#lists.keys()) {
      if (key.startsWith(`${list}\n`)) this.#lists.delete(key);
    }
  }

  /** Warns once that a target's item is hidden by another target's item of the same name. */
  warn({ exchange }: ItemCaller, list: ItemList, name: string, [first, second]: TargetPair): void {
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
export type TargetPair = readonly [owner: string, other: string];

/** Creates the table for a backend. */
export function itemOwners(): ItemOwners {
  return new ItemOwners();
}

function keyOf({ exchange, jwt }: ItemCaller, list: ItemList): string {
  return `${list}\n${callerOf(exchange, jwt)}`;
}
