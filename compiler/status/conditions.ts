import type { ClosedPart } from "../3-resolve/resolve-isolated.ts";
import type { Checked } from "../compile.ts";
import { type ConfigPath, type Diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import { type MessageCode, messageOf } from "../diagnostics/messages/index.ts";
import type { Manifest } from "../manifests/manifests.ts";

/** metav1.Condition without its time: what is said depends on the manifests alone. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** What is wrong with a part of a resource. */
export interface Problem {
  readonly code: MessageCode;
  readonly message: string;
  /** From the resource's root. */
  readonly path: ConfigPath;
  readonly isError: boolean;
  /** The reason that the message itself carries. */
  readonly cause: string | undefined;
}

/** Who writes these conditions. */
export const CONTROLLER = "gwc.dev/gateway";

/** A condition that holds. */
export function trueCondition(type: string, reason: string, message = ""): Condition {
  return { type, status: "True", reason, message };
}

/** Characters of a message of many mistakes; the API server takes 32,768 in a condition, and some of them in an object. */
const MAX_MESSAGE = 4_000;

/** A condition that doesn't hold because of problems. */
export function falseCondition(
  type: string,
  reason: string,
  problems: readonly Problem[],
): Condition {
  const messages = problems.map(({ path, message }) =>
    path.length === 0 ? message : `${formatPath(path)}: ${message}`,
  );
  return { type, status: "False", reason, message: joined([...new Set(messages)]) };
}

/** A condition that holds, although there are problems: its message says which part does not. */
export function partialCondition(
  type: string,
  reason: string,
  problems: readonly Problem[],
): Condition {
  return { ...falseCondition(type, reason, problems), status: "True" };
}

/**
 * A condition that holds, for the reason `held`, unless there are problems: the first ones in the order given say why it
 * does not.
 */
export function conditionFrom(
  type: string,
  held: string,
  ...causes: readonly (readonly [reason: string, problems: readonly Problem[]])[]
): Condition {
  const cause = causes.find(([, problems]) => problems.length > 0);
  return cause === undefined ? trueCondition(type, held) : falseCondition(type, ...cause);
}

/** All of them, or as many as a message has room for. */
function joined(messages: readonly string[]): string {
  let length = 0;
  const first = messages.findIndex((each) => {
    length += each.length + SEPARATOR.length;
    return length > MAX_MESSAGE;
  });
  if (first < 0) return messages.join(SEPARATOR);
  const kept = messages.slice(0, Math.max(1, first));
  const more = messages.length - kept.length;
  const shown = kept.join(SEPARATOR).slice(0, MAX_MESSAGE);
  return `${shown} ...${more === 0 ? "" : ` and ${more} more`}`;
}

const SEPARATOR = "; ";

/** The problems of each resource, by its title `HTTPRoute default/tools`. */
export function problemsByResource({
  diagnostics,
  closed,
}: Checked): (manifest: Manifest) => readonly Problem[] {
  const byName = Map.groupBy(diagnostics, ({ at }) => at.resource?.name ?? "");
  const closedByName = Map.groupBy(closed, ({ origin }) => origin.resource?.name ?? "");
  return ({ origin }) => {
    const name = origin.resource?.name ?? " ";
    return [
      ...(byName.get(name) ?? []).map(problemOf),
      ...(closedByName.get(name) ?? []).map(problemOfClosed),
    ];
  };
}

/** A part that is closed although it has no mistake: the message names the mistake and its object. */
function problemOfClosed({ origin, mistake }: ClosedPart): Problem {
  const path = origin.path.slice(origin.resource?.depth ?? 0);
  const closed = { path, isError: true, cause: undefined };
  if (mistake === undefined)
    return { ...closed, code: "internal-error", message: "is closed by an error of gwc itself" };
  const { code, message, path: place } = problemOf(mistake);
  const of = [mistake.at.resource?.name, place.length > 0 && formatPath(place)];
  const where = of.filter((each) => typeof each === "string").join(" ");
  return { ...closed, code, message: `is closed by a mistake of ${where}: ${message}` };
}

/** The problems below a path. */
export function within(problems: readonly Problem[], ...path: ConfigPath): readonly Problem[] {
  return problems.filter((each) => path.every((step, index) => each.path[index] === step));
}

function problemOf({ code, params, at }: Diagnostic): Problem {
  const { severity, text } = messageOf(code);
  return {
    code,
    // The row and the parameters belong to the same code.
    message: text(params as never),
    path: at.path.slice(at.resource?.depth ?? 0),
    isError: severity === "error",
    cause: "cause" in params ? params.cause : undefined,
  };
}
