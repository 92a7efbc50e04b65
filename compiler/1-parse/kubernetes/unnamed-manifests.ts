import {
  type ConfigPath,
  childOf,
  type Diagnostics,
  formatPath,
} from "../../diagnostics/diagnostic.ts";
import { type ConfigValue, isMapping } from "../../schema/config-values.ts";
import { typeName } from "../../schema/schema-messages.ts";
import { isKubernetes } from "./kubernetes-object.ts";
import type { ReadDocument } from "./manifests.ts";

/** Reports resources whose version or kind is not a string, which would otherwise be neither read nor skipped. */
export function reportUnnamed(documents: readonly ReadDocument[], diagnostics: Diagnostics): void {
  for (const { value, origin } of documents) {
    if (!isMapping(value) || !("apiVersion" in value && "kind" in value)) continue;
    for (const { item, path } of itemsOf(value)) {
      for (const key of ["apiVersion", "kind"]) {
        const found = isMapping(item) ? item[key] : undefined;
        if (typeof found === "string" && found !== "") continue;
        if (found === undefined) {
          const owner = path.length === 0 ? "the document" : formatPath(path);
          diagnostics.report("missing-field", childOf(origin, ...path), { owner, key });
          continue;
        }
        diagnostics.report("wrong-type", childOf(origin, ...path, key), {
          field: `"${key}"`,
          expected: "a string",
          found: found === "" ? "empty" : typeName(found),
          advice: `a resource without ${key} would be skipped`,
        });
      }
    }
  }
}

interface Item {
  readonly item: ConfigValue;
  /** Path in its document. */
  readonly path: ConfigPath;
}

/** Returns a resource, or those of a list. */
function itemsOf(value: ConfigValue): readonly Item[] {
  const items = isKubernetes(value) && value.kind.endsWith("List") ? value.items : undefined;
  if (!Array.isArray(items)) return [{ item: value, path: [] }];
  return items.map((item: ConfigValue, index) => ({ item, path: ["items", index] }));
}
