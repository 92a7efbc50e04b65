import type { Origin } from "../../../compiler/diagnostics/diagnostic.ts";
import { brokenOnly, code, group, indented, LINE, literal, SOFT } from "../../code/code.ts";
import type { Code, Name, Printable } from "../../code/hole.ts";
import { imported, importedType, isIdentifier, name } from "../../code/names.ts";
import { call } from "../../code/syntax.ts";
import type { Trace } from "../../code/trace.ts";
import { modelCases } from "./model-cases.ts";

const CALLS = "gwc/runtime/llm/calls";
const CHOOSE = `${CALLS}/choose-target`;

/** Writes the choice among targets that functions make. */
export function choiceOfCalls(groups: readonly (readonly Code[])[]): Printable {
  const only = onlyOf(groups);
  return only === undefined
    ? code`${imported(CHOOSE, "inGroups")}(${literal(groups)})`
    : call(imported(CHOOSE, "oneTarget"), [only]);
}

/** Writes the choice among targets that are settings. */
export function choiceOfSettings(groups: readonly (readonly Printable[])[]): Printable {
  const only = onlyOf(groups);
  return only === undefined
    ? code`${imported(CHOOSE, "inGroups")}(${literal(groups)})`
    : code`${imported(CHOOSE, "oneTarget")}(${literal(only)})`;
}

/** Writes the choice if no target serves the request. */
export function noChoice(): Printable {
  return code`() => ${imported(`${CALLS}/target`, "unasked")}`;
}

function onlyOf<Target>(groups: readonly (readonly Target[])[]): Target | undefined {
  const [only, ...others] = groups.flat();
  return others.length === 0 ? only : undefined;
}

/** A model and its targets. */
export interface ModelChoice {
  /** Name for clients, with at most one `*` at an end. */
  readonly model: string;
  /** Its targets; absent without any. */
  readonly targets?: Printable;
  /** Whether its targets depend on the request. */
  readonly isConditional?: true;
  /** Whether it may serve no request for it, so that more general names are tried. */
  readonly mayPass?: boolean;
}

/**
 * Writes a table of models, and the function that looks up a model in it. `label`: prefix of both names,
 * `completions`.
 */
export function choiceByModel(
  label: string,
  models: readonly ModelChoice[],
  origin: Origin,
  trace: Trace,
  target = importedType(`${CALLS}/target`, "LlmTarget"),
): { readonly declarations: readonly Code[]; readonly choice: Name } {
  const table = name(`${label}Models`);
  const choice = name(`${label}Targets`);
  const members = Object.fromEntries(
    models.flatMap(({ model, targets }) => (targets === undefined ? [] : [[model, targets]])),
  );
  const isConditional = models.some((each) => each.isConditional === true);
  const request = importedType(`${CALLS}/transform-fields`, "TransformedRequest");
  const parameters = isConditional
    ? indented(SOFT, code`model: string | undefined,`, LINE, code`request: ${request}`)
    : indented(SOFT, code`model: string | undefined`);
  // Without targets, all models have the same result.
  const isRead = models.some((each) => !isAny(each) || each.targets !== undefined);
  const head = group(
    code`function ${choice}(`,
    ...(isRead ? [parameters, brokenOnly(","), SOFT] : []),
    code`): Iterable<${target}> | undefined {`,
  );
  const tableCode = code`
    ${trace(origin)}
    const ${table} = ${literal(members)};
  `;
  return {
    declarations: [
      ...(Object.keys(members).length === 0 ? [] : [tableCode]),
      code`
        ${trace(origin)}
        ${head}
          ${cases(models, table, target)}
        }
      `,
    ],
    choice,
  };
}

function isAny({ model }: ModelChoice): boolean {
  return model === "*";
}

function cases(
  models: readonly ModelChoice[],
  table: Name,
  target: ReturnType<typeof importedType>,
): readonly Code[] {
  const callOf = ({ model, isConditional }: ModelChoice): Code => {
    const args = isConditional === true ? code`model, request` : code`model`;
    return isIdentifier(model)
      ? code`${table}.${name(model)}(${args})`
      : code`${table}[${literal(model)}](${args})`;
  };
  const statementOf = (choice: ModelChoice): Code =>
    choice.targets === undefined
      ? code`return ${imported(`${CALLS}/target`, "unasked")};`
      : code`return ${callOf(choice)};`;
  const named = models
    .filter((each) => !isAny(each))
    .map((each) => ({
      pattern: each.model,
      statement: each.mayPass === true ? code`targets = ${callOf(each)};` : statementOf(each),
      mayPass: each.mayPass === true,
    }));
  const rest = models.find(isAny);
  return [
    ...(named.some(({ mayPass }) => mayPass)
      ? [code`let targets: Iterable<${target}> | undefined;`]
      : []),
    ...modelCases(name("model"), named, true),
    rest === undefined ? code`return undefined;` : statementOf(rest),
  ];
}
