import type { PolicyUse } from "../../compiler/ir/policies.ts";
import type { Rule } from "../../compiler/model/rules.ts";
import { isRepeatingCode, readingsCall, repeatableReads } from "../backends/parts/readings.ts";
import { rulesCode, ruleVerdict } from "../backends/parts/rules.ts";
import { code, join, literal } from "../code/code.ts";
import type { ConnectionPart } from "../code/connection-part.ts";
import type { Code, Name } from "../code/hole.ts";
import { assigned, laidOut } from "../code/layout.ts";
import { imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { ifStatement } from "../code/statements.ts";
import { parameter } from "../code/variables.ts";
import type { ConnectionScope, OwnMessages, PolicyTemplate, RouteScope } from "./policy.ts";

/** `authorization`: CEL rules over the request and the identities. */
export const authorizationTemplate: PolicyTemplate<"authorization"> = {
  connection: connectionCode,
  connectionRules: connectionRulesCode,
  onBackend,
  backendReads: ({ rules }) =>
    rules.flatMap(({ cases }) => cases).flatMap(({ expression }) => expression.variables),
  code: ({ settings, origin }, { trace, variables: declared, expressions, openStepUp }) => {
    const { denials, body, variables } = rulesCode(settings.rules, expressions, {
      label: DENIED,
      policy: origin,
      trace,
    });
    const parameters = variables.map(parameter);
    const passed = variables.map((variable) => declared.argument(variable));
    const { requiredScopes } = settings;
    const stepUp =
      openStepUp === undefined || requiredScopes === undefined
        ? undefined
        : code`const stepUp = ${openStepUp}(${literal({ ...requiredScopes })});`;
    const withOthers = variables.map((variable) =>
      variable === "jwt" ? code`claims` : declared.argument(variable),
    );
    const challenge =
      stepUp &&
      code`stepUp(exchange, ${declared.argument("jwt")}, (claims) => authorize(${join(withOthers, ", ")}))`;
    return {
      readsRequestBody: readsBody(
        settings.rules.map(({ expression }) => expression),
        "request",
      ),
      declarations: [
        code`
          ${trace(origin)}
          ${denials}

          function authorize(${join(parameters, ", ")}): ${ruleVerdict} {
            ${body}
          }
        `,
        ...(stepUp === undefined ? [] : [stepUp]),
      ],
      steps: [
        ...verdictCode(name("authorize"), variables, passed, settings.rules),
        challenge === undefined
          ? ifStatement([code`!verdict.isAllowed`], code`return ${REFUSE}(exchange, verdict);`)
          : code`
              if (!verdict.isAllowed) {
                const challenge = ${challenge};
                return ${REFUSE}(exchange, verdict, challenge);
              }
            `,
      ],
    };
  },
};

/** Declares `verdict`: the decision of the rules, for all readings of the exchange. */
function verdictCode(
  authorize: Name,
  variables: readonly string[],
  passed: readonly Code[],
  rules: readonly Rule[],
): readonly Code[] {
  const called = code`${authorize}(${join(passed, ", ")})`;
  const repeatable = repeatableReads(rules.map(({ expression }) => expression));
  if (repeatable === undefined) return [code`const verdict = ${called};`];
  const judge = imported("gwc/runtime/policies/every-reading", "judgeReadings");
  const judged = readingsCall(judge, authorize, passed, variables, repeatable);
  const isRepeating = laidOut(isRepeatingCode(repeatable), "condition");
  return [
    code`let verdict = ${called};`,
    code`
      if (${isRepeating}) {
        ${assigned(code`verdict =`, judged)};
      }
    `,
  ];
}

/** Writes the rules of one backend, which are checked once it is chosen. */
function onBackend(
  { settings, origin }: PolicyUse<"authorization">,
  suffix: string,
  { trace, expressions, variables: declared }: RouteScope,
): OwnMessages {
  const label = `deniedByBackend${suffix}`;
  const { denials, body, variables } = rulesCode(settings.rules, expressions, {
    label,
    policy: origin,
    trace,
  });
  const passed = variables.map((variable) => declared.argument(variable));
  const authorize = name(`authorizeForBackend${suffix}`);
  const isOfRequest = variables.every((variable) => variable === "request");
  const verdict = verdictCode(authorize, variables, passed, settings.rules);
  const rules =
    verdict.length > 1
      ? code`
          (exchange) => {
            ${verdict}
            return verdict;
          }
        `
      : isOfRequest
        ? code`${authorize}`
        : code`(exchange) => ${authorize}(${join(passed, ", ")})`;
  const guardedBy = imported("gwc/runtime/policies/backend-authorization", "guardedBy");
  return {
    declarations: [
      code`
        ${trace(origin)}
        ${denials}

        function ${authorize}(${join(variables.map(parameter), ", ")}): ${ruleVerdict} {
          ${body}
        }
      `,
    ],
    settings: { guard: code`${guardedBy}(${rules})` },
    admission: [
      ...verdict,
      ifStatement([code`!verdict.isAllowed`], code`return ${REFUSE}(exchange, verdict);`),
    ],
    readsRequestBody: readsBody(
      settings.rules.map(({ expression }) => expression),
      "request",
    ),
  };
}

/** Writes the rules of a route of connections. Only the client's address is known, which CEL reads from the request. */
function connectionCode(
  { settings, origin }: PolicyUse<"authorization">,
  { trace, expressions }: ConnectionScope,
): readonly ConnectionPart[] {
  const denial = { label: DENIED, policy: origin, trace };
  const { denials, body, variables } = rulesCode(settings.rules, expressions, denial);
  const isRead = variables.includes("request");
  const parameter = isRead ? code`request: ${importedType(CONNECTION, "Connection")}` : code``;
  const argument = isRead ? code`connection` : code``;
  const refuse = imported(CONNECTION, "denyConnection");
  return [
    {
      declaration: code`
      ${trace(origin)}
      ${denials}

      function authorize(${parameter}): ${ruleVerdict} {
        ${body}
      }
    `,
      step: code`
      const verdict = authorize(${argument});
      ${ifStatement([code`!verdict.isAllowed`], code`return ${refuse}(connection, verdict);`)}
    `,
    },
  ];
}

/** Writes the rules for clients that have just connected, of which only the connection is known. */
function connectionRulesCode(
  { settings, origin }: PolicyUse<"authorization">,
  label: string,
  { trace, expressions }: ConnectionScope,
): readonly Code[] {
  const denial = { label: `${label}Denied`, policy: origin, trace };
  const { denials, body, variables } = rulesCode(settings.rules, expressions, denial);
  const client = importedType("gwc/runtime/net/connected-client", "ConnectedClient");
  const parameter = variables.includes("request") ? code`request: ${client}` : code``;
  return [
    code`
      ${trace(origin)}
      ${denials}

      function ${name(label)}(${parameter}): ${ruleVerdict} {
        ${body}
      }
    `,
  ];
}

const REFUSE = imported("gwc/runtime/policies/authorization", "denyForbidden");

/** Name of the constant that makes denials. */
const DENIED = "denied";

const CONNECTION = "gwc/runtime/tcp/connection";
