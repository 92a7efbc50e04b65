import { readDocuments } from "../../1-parse/documents.ts";
import { Diagnostics, type Origin, placeKey } from "../../diagnostics/diagnostic.ts";
import { locate, locationText, type SourceFile } from "../../diagnostics/source.ts";
import { checkedDiff } from "../../inspect/diff/checked-diff.ts";
import { differenceDetails, diffVerdict } from "../../inspect/diff/report/diff-report.ts";
import { reviewAccess } from "../../inspect/review/access-review.ts";
import { subjectLine } from "../../inspect/review/page/matrix.ts";
import { policiesBefore } from "../../ir/access.ts";
import type { AccessData, DiffData } from "../admin/api/admin-api.ts";
import type { Compiled } from "../candidate.ts";

/** The parts of a compiled configuration that questions are about. */
export type ComparedVersion = Pick<Compiled, "program" | "literals" | "texts">;

/** A question about configurations, for a thread of its own. */
export type InspectionOrder =
  | { readonly kind: "access" | "lines"; readonly version: ComparedVersion }
  | { readonly kind: "diff"; readonly before: ComparedVersion; readonly after: ComparedVersion };

/** Returns the parts of a compiled configuration that questions are about, without its code. */
export function comparedVersion({ program, literals, texts }: ComparedVersion): ComparedVersion {
  return { program, literals, texts };
}

/** Decides which callers may use which tools, models and paths. */
export function accessData({ program, texts }: ComparedVersion): AccessData {
  const files = filesOf(texts);
  const { routes, decisions } = reviewAccess([{ program, before: undefined }]);
  const placeOf = (origin: Origin) => locationText(locate(origin, files));
  return {
    routes: routes.map(({ name, listeners, origin, subjects, rows, undecided }) => ({
      name,
      listeners,
      place: placeOf(origin),
      callers: subjects.map((subject) => ({
        text: subjectLine(subject),
        credentials: subject.credentials,
        when: subject.when,
        unless: subject.unless,
        example: JSON.stringify(subject.identities),
      })),
      rows: rows.map(({ resource: { kind, name: item, target }, cells }) => ({
        kind,
        name: item,
        target: target ?? null,
        cells,
      })),
      undecided,
    })),
    decisions: decisions.map(({ outcome, policy, reason, when, origin, example }) => ({
      outcome,
      policy: policy ?? null,
      reason,
      when: when ?? null,
      place: placeOf(origin),
      example,
    })),
  };
}

/** Returns the lines of listeners, routes and policies, by the keys of their places. */
export function linesOfPlaces({ program, texts }: ComparedVersion): ReadonlyMap<string, number> {
  const files = filesOf(texts);
  const { binds, tcp } = program;
  const origins = [...binds, ...tcp].flatMap(({ listeners }) =>
    listeners.flatMap((listener) => {
      const before = "preRouting" in listener ? policiesBefore(listener) : listener.admission;
      return [
        listener.origin,
        ...before.map(({ origin }) => origin),
        ...listener.routes.flatMap(({ origin, policies }) => [
          origin,
          ...policies.map((use) => use.origin),
        ]),
      ];
    }),
  );
  return new Map(origins.map((origin) => [placeKey(origin), locate(origin, files).line]));
}

/** Compares two configurations by their effect on requests. */
export function diffData(before: ComparedVersion, after: ComparedVersion): DiffData {
  const side = ({ program, literals }: ComparedVersion) => ({ programs: [program], literals });
  const found = checkedDiff(side(before), side(after));
  const files = { before: filesOf(before.texts), after: filesOf(after.texts) };
  return {
    verdict: diffVerdict(found),
    differences: found.differences.map((difference) => ({
      direction: difference.direction,
      subject: difference.subject,
      change: difference.change,
      details: differenceDetails(difference, files),
    })),
    undecided: found.undecided,
  };
}

function filesOf(texts: ComparedVersion["texts"]): readonly SourceFile[] {
  return texts.map(({ name, path, text }) => readDocuments(name, path, text, new Diagnostics()));
}
