import {
  type Location,
  locate,
  locationText,
  type SourceFile,
} from "../../../diagnostics/source.ts";
import type { Difference, SidePlace } from "../difference.ts";
import { DIRECTION_LABEL } from "./verdict.ts";

/** Files of both sides, for locations. */
export interface DiffFiles {
  readonly before: readonly SourceFile[];
  readonly after: readonly SourceFile[];
}

/** Returns the labeled details of a difference. */
export function differenceDetails(
  { when, unless, by, was, wasBy, example }: Difference,
  files: DiffFiles,
): readonly (readonly [string, string])[] {
  const details: readonly (readonly [string, string | undefined])[] = [
    ["when", when.length === 0 ? undefined : when.join(", ")],
    ["unless", unless.length === 0 ? undefined : unless.join(", ")],
    ["by", by && sideText(by, files)],
    [
      "was",
      wasBy === undefined ? was : `${was}  (base ${locationText(locate(wasBy, files.before))})`,
    ],
    ["e.g.", example],
  ];
  return details.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

/** Formats `gateway.yaml:27:15  jwt.sub == "a"`; locations in the old configuration are marked with `base`. */
function sideText({ side, origin, text }: SidePlace, files: DiffFiles): string {
  const base = side === "before" ? "base " : "";
  return `${base}${locationText(locate(origin, files[side]))}  ${text}${side === "before" ? "  (removed)" : ""}`;
}

/** Formats a difference as the message of an annotation. */
export function differenceMessage(difference: Difference, files: DiffFiles): string {
  const { subject, change, direction } = difference;
  const details = differenceDetails(difference, files).map(([name, text]) => `${name} ${text}`);
  return [`${DIRECTION_LABEL[direction]} ${subject}: ${change}`, ...details].join("\n");
}

/** Returns the location of a difference in the new files; `undefined` if it has none there. */
export function differenceLocation({ by }: Difference, files: DiffFiles): Location | undefined {
  return by?.side === "after" ? locate(by.origin, files.after) : undefined;
}
