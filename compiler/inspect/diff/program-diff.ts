import type { Program } from "../../ir/program.ts";
import { type Work, workOfCommand } from "../effect/work/work.ts";
import { bindDifferences } from "./bind-differences.ts";
import { byRisk, type Difference, type ProgramDiff } from "./difference.ts";
import type { OpenQuestions } from "./open-questions.ts";
import { needDifferences, processDifferences } from "./process-differences.ts";
import { routeKey } from "./route-key.ts";
import { shortList } from "./short-list.ts";
import { tcpDifferences } from "./tcp-differences.ts";

/** Compares two programs; the riskiest differences come first. */
export function programDiff(
  before: Program,
  after: Program,
  work: Work = workOfCommand(),
): ProgramDiff {
  const undecided: string[] = [];
  const open: OpenQuestions = { undecided, work };
  const ports = new Set([...before.binds, ...after.binds].map(({ port }) => port));
  const requests = [...ports].flatMap((port) => {
    const [old, now] = [before, after].map(({ binds }) => binds.find((each) => each.port === port));
    const forwards = ({ tcp }: Program) => tcp.some((each) => each.port === port);
    return bindDifferences(port, old, now, [forwards(before), forwards(after)], open);
  });
  const served = [before, after].map(({ binds }) => new Set(binds.map(({ port }) => port)));
  const differences = [
    ...requests,
    ...tcpDifferences(before.tcp, after.tcp, served, open),
    ...needDifferences(before, after),
    ...processDifferences(before, after),
  ];
  return {
    differences: byRisk(grouped(differences)),
    undecided: [...new Set(undecided)],
    changedRoutes: changedRoutes(before, after),
  };
}

/** Merges equal differences of at least 3 routes. */
function grouped(differences: readonly Difference[]): readonly Difference[] {
  const groups = Map.groupBy(differences, ({ direction, change, when, unless, by, was }) =>
    JSON.stringify([direction, change, when, unless, by?.text, was]),
  );
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    const subjects = [...new Set(same.map(({ subject }) => subject))];
    if (first === undefined || subjects.length < 3) return same;
    return [{ ...first, subject: `in ${subjects.length} places: ${shortList(subjects)}` }];
  });
}

/** Counts routes whose configuration is new; their effect may be unchanged. */
function changedRoutes(before: Program, after: Program): number {
  const texts = ({ binds }: Program) =>
    binds.flatMap(({ listeners }) => listeners.flatMap(({ routes }) => routes)).map(routeKey);
  const known = new Set(texts(before));
  return texts(after).filter((text) => !known.has(text)).length;
}
