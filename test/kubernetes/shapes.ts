import { kinds } from "../../compiler/1-parse/kubernetes/kinds.ts";
import { Diagnostics } from "../../compiler/diagnostics/diagnostic.ts";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import type { ConfigValue } from "../../compiler/schema/config-values.ts";
import { validator } from "../../compiler/schema/validate.ts";

/** Whether a document has the shape of its kind, built or not, and what is said against it. */
export function isGood(
  kind: string,
  document: unknown,
): { readonly isGood: boolean; readonly said: readonly string[] } {
  const row = kinds.find((each) => each.kind === kind);
  if (row === undefined) throw new Error(`no kind ${kind}`);
  const diagnostics = new Diagnostics();
  const value = { apiVersion: `${row.groups[0]}/${row.versions[0]}`, ...(document as object) };
  // Plain data of a test.
  const read = { value: value as unknown as ConfigValue, envTemplates: [], expanded: [] };
  const validate = validator(row.schema(), [read.value]);
  validate.whole(read, { file: "a.yaml", document: 0, path: [] }, diagnostics);
  const wrong = diagnostics.list.filter(({ code }) => code !== "not-built-yet");
  return {
    isGood: wrong.length === 0,
    // The row and the parameters belong to the same code.
    said: wrong.map(({ code, params }) => messageOf(code).text(params as never)),
  };
}
