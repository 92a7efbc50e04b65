import type { DiscoveryResource } from "../../../runtime/discovery/resource-types.ts";
import { CachedByObject } from "../../cached-results.ts";
import type { EntryValues } from "../model/read-values.ts";
import type { ValueKind, WatchedObjects } from "../model/watched-objects.ts";
import { resourceOf } from "./resource-of.ts";

/** Entries of Secrets and ConfigMaps as resources. Each version is written once, because it may be as large as 1 MB. */
export class ValueResources {
  readonly #objects: Pick<WatchedObjects, "valuesOf">;
  readonly #written = new CachedByObject<EntryValues, DiscoveryResource>();

  constructor(objects: Pick<WatchedObjects, "valuesOf">) {
    this.#objects = objects;
  }

  /** Returns the entries of an object (`NAMESPACE/NAME`); `undefined` if it does not exist. */
  of(kind: ValueKind, key: string): DiscoveryResource | undefined {
    const data = this.#objects.valuesOf(kind, key);
    return data && this.#written.of(data, () => resourceOf(entriesText(data, kind === "Secret")));
  }
}

/** The entries of an object, each in base64, as JSON. */
function entriesText(data: EntryValues, isEncoded: boolean): string {
  const entries = Object.entries(data).map(([key, value]) => {
    const text = String(value);
    return [key, isEncoded ? text : Buffer.from(text).toString("base64")];
  });
  return JSON.stringify(Object.fromEntries(entries));
}
