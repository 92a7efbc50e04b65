import type { Finding } from "../../../diagnostics/report/findings.ts";
import type { SourceFile } from "../../../diagnostics/source.ts";
import type { ProgramDiff } from "../../diff/difference.ts";
import type { DiffFiles } from "../../diff/report/diff-report.ts";
import type { GatewayGraph } from "../../graph/gateway-graph.ts";
import type { TestRun } from "../../tests/run-tests.ts";
import type { AccessReview } from "../access-review.ts";

/** Everything that the page of `gwc review` shows. */
export interface Review {
  /** The reviewed files, as the user named them. */
  readonly inputs: readonly string[];
  readonly files: readonly SourceFile[];
  /** When and by which version the page was made. */
  readonly made: { readonly at: string; readonly version: string };
  readonly access: AccessReview;
  /** Changes since the base; `undefined` without one. */
  readonly changes: ReviewedChanges | undefined;
  readonly findings: readonly Finding[];
  readonly accepted: readonly AcceptedFinding[];
  /** Result of the tests; `undefined` if there are none. */
  readonly tests: TestRun | undefined;
  readonly graphs: readonly { readonly gateway: string; readonly graph: GatewayGraph }[];
}

/** Changes since a base. */
export interface ReviewedChanges {
  /** Name of the base, as the user gave it. */
  readonly base: string;
  readonly diff: ProgramDiff;
  readonly files: DiffFiles;
}

/** A finding of the audit that somebody accepted, with the reason. */
export interface AcceptedFinding {
  readonly finding: Finding;
  readonly reason: string;
}
