import type { ProgramDiff } from "../difference.ts";

/** The first line, which says it all: `2 differences: 1 OPENS, 1 CHANGES`; of a single one what it is, too. */
export function diffVerdict({ differences, undecided, changedRoutes }: ProgramDiff): string {
  const count = differences.length;
  if (count > 0) {
    const kinds = (["opens", "closes", "changes"] as const).flatMap((direction) => {
      const some = differences.filter((each) => each.direction === direction).length;
      return some === 0
        ? []
        : `${some} ${some === 1 ? DIRECTION_LABEL[direction] : PLURAL[direction]}`;
    });
    const [only] = count === 1 ? differences : [];
    const what = only === undefined ? "" : `: ${only.subject}, ${only.change}`;
    return `${count} ${count === 1 ? "difference" : "differences"}: ${kinds.join(", ")}${what}`;
  }
  if (undecided.length > 0) return `no difference found, and ${undecided.length} not decided`;
  const routes = changedRoutes === 1 ? "1 route" : `${changedRoutes} routes`;
  const text = changedRoutes === 0 ? "" : `: ${routes} changed in text, decided exactly`;
  return `no request is treated differently${text}`;
}

/** What a difference does, as a headline has it. */
export const DIRECTION_LABEL = { opens: "OPENS", closes: "CLOSES", changes: "CHANGES" } as const;
const PLURAL = { opens: "OPEN", closes: "CLOSE", changes: "CHANGE" } as const;

/** How serious a difference is to those who annotate pull requests. */
export const DIRECTION_SEVERITY = { opens: "warning", closes: "note", changes: "note" } as const;
