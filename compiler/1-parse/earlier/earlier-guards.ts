import { isMap, isScalar, Pair } from "yaml";
import { type EarlierField, mappingOf, pairNamed, scalarAt, sequenceOf } from "./earlier-field.ts";

/** Guards that one mapping could have together, in the order in which they ran, by their present names. */
const GUARDS: readonly (readonly [field: string, now: string])[] = [
  ["openaiModeration", "openAIModeration"],
  ["openAIModeration", "openAIModeration"],
  ["webhook", "webhook"],
  ["regex", "regex"],
];

/** `request` or `response` of `promptGuard`: one mapping of guards, which is a list with one guard per item now. */
export function guardsOf(phase: "request" | "response"): EarlierField {
  return {
    inside: ["promptGuard"],
    field: phase,
    rewrite: (_, pair) => {
      const { value } = pair;
      if (!isMap(value)) return undefined;
      const known = ["rejection", ...GUARDS.map(([field]) => field)];
      if (!value.items.every(({ key }) => isScalar(key) && known.includes(String(key.value))))
        return undefined;
      const rejection = pairNamed(value, "rejection");
      const guards = GUARDS.flatMap(([field, now]) => {
        const guard = pairNamed(value, field);
        if (guard === undefined) return [];
        const own = new Pair(scalarAt(guard.key, now), guard.value);
        const shared = rejection === undefined ? [] : [new Pair(rejection.key, rejection.value)];
        return [mappingOf([own, ...shared], value)];
      });
      if (guards.length === 0) return undefined;
      pair.value = sequenceOf(guards);
      return `write a list with one guard per item: ${phase}: [...]`;
    },
  };
}

/** `action: { reject: { response } }` of patterns: a word now, and the response is `rejection` of the guard. */
export function rejectingAction(phase: "request" | "response"): EarlierField {
  return {
    inside: ["promptGuard", phase],
    field: "regex",
    rewrite: (guard, { value: regex }) => {
      const action = isMap(regex) ? pairNamed(regex, "action") : undefined;
      if (action === undefined || !isMap(action.value)) return undefined;
      const reject = pairNamed(action.value, "reject");
      if (reject === undefined || action.value.items.length !== 1) return undefined;
      const response = isMap(reject.value) ? pairNamed(reject.value, "response") : undefined;
      if (response !== undefined && guard.has("rejection")) return undefined;
      action.value = scalarAt(reject.key, "reject");
      if (response !== undefined)
        guard.items.push(new Pair(scalarAt(response.key, "rejection"), response.value));
      return "write action: reject, and rejection: {...} next to regex";
    },
  };
}
