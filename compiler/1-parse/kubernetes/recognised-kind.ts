import type { Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import { GATEWAY_GROUP, type KindRow, kinds, OUR_GROUPS, splitApiVersion } from "./kinds.ts";
import type { KubernetesObject } from "./kubernetes-object.ts";

/**
 * Returns the row of a kind, and whether its version is known (otherwise reported); `undefined` if the resource is
 * skipped.
 */
export function recognise(
  { apiVersion, kind }: KubernetesObject,
  origin: Origin,
  diagnostics: Diagnostics,
): { readonly row: KindRow; readonly isKnown: boolean } | undefined {
  const { group, version } = splitApiVersion(apiVersion);
  const at = { ...origin, path: [...origin.path, "kind"] };
  const own = kinds.filter(({ groups }) => groups.includes(group));
  const row = own.find(({ names }) => names.includes(kind));
  if (row?.versions.includes(version) === true) return { row, isKnown: true };
  const known = row ?? misspelledGroup(kind, group, version);
  if (known !== undefined) {
    diagnostics.report(
      "wrong-version",
      { ...origin, path: [...origin.path, "apiVersion"] },
      {
        kind,
        found: apiVersion,
        known: known.versions
          .map((each) => [
            row === undefined ? (suggest(group, known.groups) ?? known.groups[0] ?? "") : group,
            each,
          ])
          .map((parts) => parts.filter((part) => part !== "").join("/"))
          .join(", "),
      },
    );
    return { row: known, isKnown: false };
  }
  if (group === GATEWAY_GROUP && kind === "UDPRoute") {
    diagnostics.report("not-built-yet", at, { what: "UDP proxying", field: kind });
    return undefined;
  }
  const suggestion = suggest(
    kind,
    own.flatMap(({ names }) => names),
  );
  const isMisspelled =
    OUR_GROUPS.includes(group) || (group === GATEWAY_GROUP && suggestion !== undefined);
  if (isMisspelled) diagnostics.report("unknown-kind", at, { kind, group, suggestion });
  else diagnostics.report("skipped-kind", at, { kind });
  return undefined;
}

/**
 * Finds the row of a kind with a misspelled group, or with a version in its place. gwc's kinds belong to no other
 * group.
 */
function misspelledGroup(kind: string, group: string, version: string): KindRow | undefined {
  const rows = kinds.filter(({ names }) => names.includes(kind));
  const isNear = ({ groups }: KindRow) => suggest(group || version, groups) !== undefined;
  return rows.find((row) => row.groups === OUR_GROUPS || isNear(row));
}
