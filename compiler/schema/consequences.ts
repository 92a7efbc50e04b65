import type { ErrorObject } from "ajv";
import { configValueAt, pointerPath } from "./config-values.ts";
import type { Subject } from "./report-violation.ts";
import { schemaAt } from "./schema.ts";

/** Which keywords each value offends against. */
export type Offences = ReadonlySet<string>;

/** The offences of errors, looked up once: a file may have many. */
export function offencesOf(errors: readonly ErrorObject[]): Offences {
  return new Set(errors.map(({ keyword, instancePath }) => `${keyword} ${instancePath}`));
}

/** Whether an error follows from another one: a mistake is told once, where it was made. */
export function isConsequence(error: ErrorObject, offences: Offences, subject: Subject): boolean {
  const { keyword, instancePath } = error;
  switch (keyword) {
    case "required":
    case "exactlyOneOf":
    case "atLeastOneOf":
      return isMissingByName(error, subject);
    case "additionalProperties":
      return isOutdented(error, subject);
    case "enum":
      return offences.has(`type ${instancePath}`);
    case "minLength":
      return offences.has(`format ${instancePath}`) || offences.has(`pattern ${instancePath}`);
    default:
      return false;
  }
}

/** A field that is missing because it is misspelled, known to another tool, or indented too little: the key is reported. */
function isMissingByName(
  { keyword, instancePath, params }: ErrorObject,
  subject: Subject,
): boolean {
  const { unknown, root, read } = subject;
  const path = pointerPath(instancePath, read.value);
  const missing: readonly string[] =
    keyword === "required"
      ? [String(params.missingProperty)]
      : (schemaAt(root, path)?.[keyword as "exactlyOneOf" | "atLeastOneOf"] ?? []);
  if (missing.some((name) => isBeside(name, instancePath, subject))) return true;
  const keys = unknown.get(instancePath);
  if (keys === undefined) return false;
  if (keyword === "required")
    return [...keys.advice.values()].some(({ suggestion }) => suggestion === missing[0]);
  return missing.every((name) => configValueAt(read.value, [...path, name]) === undefined);
}

/** Whether a field of an object stands beside its key, where it is unknown. */
function isBeside(name: string, instancePath: string, { unknown }: Subject): boolean {
  const slash = instancePath.lastIndexOf("/");
  const advice = unknown.get(instancePath.slice(0, slash))?.advice.get(name);
  return advice?.standsIn !== undefined && advice.standsIn === instancePath.slice(slash + 1);
}

/** Whether a key is a field of an empty one beside it, which is reported with all of them. */
function isOutdented({ instancePath, params }: ErrorObject, { unknown }: Subject): boolean {
  const key = String(params.additionalProperty);
  const outdented = [...(unknown.get(instancePath)?.outdented.values() ?? [])];
  return outdented.some((keys) => keys.includes(key));
}
