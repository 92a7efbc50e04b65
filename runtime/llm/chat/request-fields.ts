import { type RequestObject, unsupportedField } from "./request-object.ts";

/**
 * Handling of each field of a request by a format's reader. `read`: translated; `dropped`: omitted, as the completion is
 * correct without it; `refusedUnless`: no other format can express it, except for values that have no effect. Fields that
 * are not in the table are refused.
 */
export type FieldTable = Readonly<
  Record<string, "read" | "dropped" | { readonly refusedUnless: readonly unknown[] }>
>;

/** Refuses a field with any value. */
export const refused = { refusedUnless: [] } as const;

/** Throws LlmRefusal for the first field of a request that cannot be translated. */
export function checkFields(fields: RequestObject, table: FieldTable): void {
  for (const name of fields.keys) {
    const handling = Object.hasOwn(table, name) ? table[name] : refused;
    if (typeof handling === "object") refuseField(fields, name, handling.refusedUnless);
  }
}

/** Throws LlmRefusal for a field that no other format can express, unless it is absent or its value has no effect. */
export function refuseField(
  fields: RequestObject,
  name: string,
  harmless: readonly unknown[] = [],
): void {
  const value = fields.any(name);
  if (value === undefined || harmless.some((each) => isSame(each, value))) return;
  throw unsupportedField(fields.at(name));
}

/**
 * Handling of each member of a tool, as of fields. `limitUnless`: refuses the tool as a whole, so that it is not sent without what
 * limits it, except for values that have no effect. So do members that are not in the table.
 */
export type ToolTable = Readonly<
  Record<string, FieldTable[string] | { readonly limitUnless: readonly unknown[] }>
>;

/** Throws LlmRefusal for the first member of a tool that cannot be translated. `tool`: path that stands for the whole tool. */
export function checkTool(
  members: RequestObject,
  table: ToolTable,
  tool = members.at("type"),
): void {
  for (const name of members.keys) {
    const handling = Object.hasOwn(table, name) ? table[name] : { limitUnless: [] };
    if (typeof handling !== "object") continue;
    if ("limitUnless" in handling) refuseLimit(members, name, tool, handling.limitUnless);
    else refuseField(members, name, handling.refusedUnless);
  }
}

/** Throws LlmRefusal for a tool because of a member, unless that is absent or its value has no effect. `tool`: as above. */
export function refuseLimit(
  members: RequestObject,
  name: string,
  tool: string,
  harmless: readonly unknown[] = [],
): void {
  const value = members.any(name);
  if (value === undefined || harmless.some((each) => isSame(each, value))) return;
  throw unsupportedField(tool, `"${members.at(name)}"`);
}

/** Throws LlmRefusal for a tool that only programs of the provider may call. */
export function refuseIndirect(tool: RequestObject): void {
  const callers = tool.any("allowed_callers");
  const isDirect = Array.isArray(callers) && callers.includes("direct");
  if (!isDirect) refuseLimit(tool, "allowed_callers", tool.at("type"));
}

/** Returns the only tool of a list, if there is one. Throws LlmRefusal for a second one, whose limits may differ. */
export function onlyTool<Tool extends RequestObject>(tools: readonly Tool[]): Tool | undefined {
  const [first, second] = tools;
  if (second !== undefined)
    throw unsupportedField(second.at("type"), `a second tool of type "${second.any("type")}"`);
  return first;
}

/** Compares as JSON: values without effect are short. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
}
