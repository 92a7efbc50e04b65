import type { ProgramDiff } from "../difference.ts";

/**
 * Formats the first line: `2 differences: 1 OPENS, 1 CHANGES: route a (:80 /a), 401 -> served; and 1 more`.
 * `quote` escapes strings of the configuration.
 */
export function diffVerdict(
  { differences, undecided, changedRoutes }: ProgramDiff,
  quote: (text: string) => string = (text) => text,
): string {
  const count = differences.length;
  if (count > 0) {
    const kinds = (["opens", "closes", "changes"] as const).flatMap((direction) => {
      const some = differences.filter((each) => each.direction === direction).length;
      return some === 0
        ? []
        : `${some} ${some === 1 ? DIRECTION_LABEL[direction] : PLURAL[direction]}`;
    });
    const [riskiest] = differences;
    const what =
      riskiest === undefined ? "" : `: ${quote(riskiest.subject)}, ${quote(riskiest.change)}`;
    const more = count === 1 ? "" : `; and ${count - 1} more`;
    return `${count} ${count === 1 ? "difference" : "differences"}: ${kinds.join(", ")}${what}${more}`;
  }
  if (undecided.length > 0) return `no difference found, and ${undecided.length} not decided`;
  const routes = changedRoutes === 1 ? "1 route" : `${changedRoutes} routes`;
  const text = changedRoutes === 0 ? "" : `: ${routes} changed in text, decided exactly`;
  return `no request is treated differently${text}`;
}

/** Headline label of each direction. */
export const DIRECTION_LABEL = { opens: "OPENS", closes: "CLOSES", changes: "CHANGES" } as const;
const PLURAL = { opens: "OPEN", closes: "CLOSE", changes: "CHANGE" } as const;

/** Severity of each direction in annotations. */
export const DIRECTION_SEVERITY = { opens: "warning", closes: "note", changes: "note" } as const;
