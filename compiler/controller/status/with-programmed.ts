import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";

/** Replaces fields of the conditions of a Gateway and its listeners that say `Programmed: True`. */
export function withProgrammed(status: object, otherwise: object): object {
  return {
    ...status,
    conditions: unlessProgrammed(status, otherwise),
    listeners: itemsField(status, "listeners").map((each) => ({
      ...recordOf(each),
      conditions: unlessProgrammed(each, otherwise),
    })),
  };
}

/** Returns the conditions with fields of `Programmed: True` replaced. */
export function unlessProgrammed(of: unknown, otherwise: object): readonly unknown[] {
  return itemsField(of, "conditions").map((each) => {
    const isProgrammed =
      textField(each, "type") === "Programmed" && textField(each, "status") === "True";
    return isProgrammed ? { ...recordOf(each), ...otherwise } : each;
  });
}
