import type { Checked } from "../../compile.ts";
import type { Program } from "../../ir/program.ts";
import { workOfCommand } from "../effect/work/work.ts";
import { byRisk, type ProgramDiff } from "./difference.ts";
import { credentialDifferences } from "./process-differences.ts";
import { programDiff } from "./program-diff.ts";

/** The parts of a configuration that are compared. */
export type ComparedSide = Pick<Checked, "programs" | "literals">;

/** Compares all gateways of two configurations, and the credentials in their files; riskiest differences first. */
export function checkedDiff(before: ComparedSide, after: ComparedSide): ProgramDiff {
  const pairs = programPairs(before, after);
  const work = workOfCommand();
  const all = pairs.map(([old, now]) => {
    const found = programDiff(old, now, work);
    return pairs.length === 1 ? found : diffOf(now.name, found);
  });
  const credentials = credentialDifferences(before.literals, after.literals);
  return {
    differences: byRisk([...all.flatMap(({ differences }) => differences), ...credentials]),
    undecided: all.flatMap(({ undecided }) => undecided),
    changedRoutes: all.reduce((sum, { changedRoutes }) => sum + changedRoutes, 0),
  };
}

/** Prefixes the subjects of differences with the Gateway's name. */
function diffOf(
  gatewayName: string,
  { differences, undecided, ...rest }: ProgramDiff,
): ProgramDiff {
  const prefixed = (text: string) => `Gateway ${gatewayName}: ${text}`;
  return {
    differences: differences.map((each) => ({ ...each, subject: prefixed(each.subject) })),
    undecided: undecided.map(prefixed),
    ...rest,
  };
}

/** Pairs Gateways by name; standalone files have one per side, which pair regardless of name. */
export function programPairs(
  before: Pick<Checked, "programs">,
  after: Pick<Checked, "programs">,
): readonly (readonly [Program, Program])[] {
  const [old, now] = [before.programs, after.programs];
  const [first, second] = [old[0], now[0]];
  if (old.length === 1 && now.length === 1 && first !== undefined && second !== undefined)
    return [[first, second]];
  const names = new Set([...old, ...now].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [a, b] = [old.find((each) => each.name === name), now.find((each) => each.name === name)];
    const some = a ?? b;
    if (some === undefined) return [];
    return [[a ?? emptied(some), b ?? emptied(some)] as const];
  });
}

/** Returns the base of a configuration that is new: its gateways without ports and routes. */
export function emptyBase<Side extends Checked>(checked: Side): Side {
  const programs = checked.programs.map(emptied);
  return { ...checked, programs, program: programs[0], literals: [], files: [] };
}

function emptied(program: Program): Program {
  return { ...program, binds: [], tcp: [] };
}
