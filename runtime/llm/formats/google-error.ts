import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { isFilledText } from "./parse-object.ts";

/** Whether an error has the form of Google's APIs (google.rpc.Status), also at Google's server of OpenAI's format. */
export function isGoogleStatus({ code, status }: JsonObject): boolean {
  return typeof code === "number" && typeof status === "string";
}

/** Returns the details of an error of Google's APIs. */
export function googleDetails({ details }: JsonObject): readonly JsonObject[] {
  return Array.isArray(details) ? details.filter(isJsonObject) : [];
}

/** Returns the first field that an error of Google's APIs is about; `undefined` if it names none. */
export function violatedField(details: readonly JsonObject[]): string | undefined {
  const violations = details.flatMap(({ fieldViolations }) =>
    Array.isArray(fieldViolations) ? fieldViolations.filter(isJsonObject) : [],
  );
  return violations.map(({ field }) => field).find(isFilledText);
}
