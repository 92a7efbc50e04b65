import type { ValueCheck } from "./schema.ts";

/** Rule that a field requires another one. */
export function needsField(field: string, other: string): ValueCheck {
  return {
    message: `"${field}" requires "${other}"`,
    field,
    needs: other,
    holds: (value) => value[field] === undefined || value[other] !== undefined,
    cel: `!has(self.${field}) || has(self.${other})`,
  };
}

/** Rule that two names of the same field are not used together. */
export function eitherField(first: string, second: string): ValueCheck {
  return {
    message: `"${first}" and "${second}" are two names of the same field`,
    field: second,
    holds: (value) => value[first] === undefined || value[second] === undefined,
    cel: `!has(self.${first}) || !has(self.${second})`,
  };
}
