import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, join } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import type { Code, Name } from "../../code/hole.ts";
import { imported, importedType, name } from "../../code/names.ts";
import { ifStatement } from "../../code/statements.ts";
import { otherConditions } from "../../routing/match.ts";
import { pickedCode, repeatableReads } from "../parts/readings.ts";
import { type DenialOptions, rulesCode, ruleVerdict } from "../parts/rules.ts";

type Conditions = NonNullable<BackendNode<"ai">["conditions"][number]>;

/** Functions of the conditions of a group; `undefined` if it has no such conditions. */
export interface ConditionNames {
  readonly matches: Name | undefined;
  readonly authorize: Name | undefined;
}

const EXCHANGE = importedType("gwc/runtime/http/exchange", "Exchange");

/** Writes the function that matches the headers of a request. */
export function matchFunction(
  id: Name,
  matches: Conditions["matches"],
  expressions: Expressions,
): Code {
  const tests = matches.map((headers) =>
    ifStatement(
      otherConditions({ method: undefined, headers, query: [] }, expressions),
      code`return true;`,
    ),
  );
  return code`
    function ${id}(exchange: ${EXCHANGE}): boolean {
      ${tests}
      return false;
    }
  `;
}

/** Writes the function that decides who may use a model. */
export function rulesFunction(
  id: Name,
  rules: Conditions["rules"],
  expressions: Expressions,
  options: DenialOptions,
): Code {
  const { denials, body, variables } = rulesCode(rules, expressions, options);
  const noted = variables.filter((each) => each !== "request" && each !== "env");
  const repeatable = repeatableReads(rules.map(({ expression }) => expression));
  const parameters = repeatable?.parameters && code`, ${pickedCode(repeatable.parameters)}`;
  const judge = imported("gwc/runtime/policies/every-reading", "judgeRequest");
  const decision = variables.includes("request")
    ? code`
        return ${judge}(exchange, (request) => {
          ${body}
        }${parameters ?? code``});
      `
    : code`${join(body, "\n")}`;
  return code`
    ${denials}

    function ${id}(${variables.length === 0 ? code`` : code`exchange: ${EXCHANGE}`}): ${ruleVerdict} {
      ${
        noted.length === 0
          ? []
          : code`const { ${join(
              noted.map((each) => name(each)),
              ", ",
            )} } = exchange.attributes;`
      }
      ${variables.includes("env") ? code`const { env } = exchange.gateway;` : []}
      ${decision}
    }
  `;
}
