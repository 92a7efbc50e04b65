import type { ErrorObject } from "ajv";
import { configValueAt, pointerPath } from "./config-values.ts";
import type { Subject } from "./report-violation.ts";
import { schemaAt } from "./schema.ts";

/** Violated keywords with the JSON pointers of their values. */
export type Offences = ReadonlySet<string>;

/** Collects the violations of all errors once, because a file may have many errors. */
export function offencesOf(errors: readonly ErrorObject[]): Offences {
  return new Set(errors.map(({ keyword, instancePath }) => `${keyword} ${instancePath}`));
}

/** Whether an error is only a consequence of another one, which is reported instead. */
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
    case "maxLength":
      return offences.has(`format ${instancePath}`) || offences.has(`pattern ${instancePath}`);
    default:
      return false;
  }
}

/**
 * Whether a required field is missing because it is misspelled, known to another tool, or indented too little. The key
 * itself is reported then.
 */
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
  if (missing.some((name) => isNextTo(name, instancePath, subject))) return true;
  const keys = unknown.get(instancePath);
  if (keys === undefined) return false;
  if (keyword === "required")
    return [...keys.advice.values()].some(({ suggestion }) => suggestion === missing[0]);
  return missing.every((name) => configValueAt(read.value, [...path, name]) === undefined);
}

/** Whether the missing field of an object was written next to its key, where it is reported as unknown. */
function isNextTo(name: string, instancePath: string, { unknown }: Subject): boolean {
  const slash = instancePath.lastIndexOf("/");
  const advice = unknown.get(instancePath.slice(0, slash))?.advice.get(name);
  return advice?.standsIn !== undefined && advice.standsIn === instancePath.slice(slash + 1);
}

/** Whether a key belongs below the empty key before it: all of these are reported together at the empty key. */
function isOutdented({ instancePath, params }: ErrorObject, { unknown }: Subject): boolean {
  const key = String(params.additionalProperty);
  const outdented = [...(unknown.get(instancePath)?.outdented.values() ?? [])];
  return outdented.some((keys) => keys.includes(key));
}
