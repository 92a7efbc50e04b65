import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";

/** Returns the names of a request's tools whose input is any text. Other formats only know them as functions. */
export function customNames({ tools }: JsonObject): ReadonlySet<string> {
  const all: readonly unknown[] = Array.isArray(tools) ? tools : [];
  return new Set(
    all.flatMap((tool) => {
      const custom = isJsonObject(tool) && tool.type === "custom" ? tool.custom : undefined;
      return isJsonObject(custom) && typeof custom.name === "string" ? [custom.name] : [];
    }),
  );
}
