import { list, type Schema, shortText } from "./schema.ts";

/** Schema of a non-empty list of addresses and address ranges. */
export function addressRanges(description: string): Schema<readonly string[]> {
  const range = shortText("An address, or a range in CIDR notation.", {
    format: "cidr",
    examples: ["10.0.0.0/8"],
  });
  return list(range, { minItems: 1, maxItems: 64, description });
}
