import type { PolicyUse } from "../../../compiler/ir/policies.ts";
import type { CompiledExpression } from "../../../compiler/model/expressions.ts";
import { upstreamCode } from "../../backends/parts/connection.ts";
import { code, comment, literal } from "../../code/code.ts";
import { headerList } from "../../code/header-list.ts";
import type { Code, Hole } from "../../code/hole.ts";
import { laidOut } from "../../code/layout.ts";
import { imported, importedType, name } from "../../code/names.ts";
import { milliseconds } from "../../code/units.ts";
import { valueList, valueMember } from "../parts/object-function.ts";
import type { ConnectionScope } from "../policy.ts";
import { type AuthorizerSettings, verdictCache } from "./verdict-cache.ts";

const CHECK = "gwc/runtime/policies/ext-authz/connection-check";
const CLIENT = "gwc/runtime/net/connected-client";

/** Writes the server that is asked about connections: a function of this name. */
export function connectionCheck(
  { settings: { cases } }: PolicyUse<"extAuthz">,
  label: string,
  scope: ConnectionScope,
): readonly Code[] {
  return cases.flatMap(({ value }) => {
    const { target, failure, cache, origin } = value;
    const server = name(`${label}Server`);
    const settings = {
      server: upstreamCode(target.url, target.connection),
      deadline: milliseconds(target.deadline),
      passesOnFailure: failure === "allow",
      cache: cache && verdictCache(cache),
      policy: scope.trace.text(origin),
    };
    const { members, read } = questionOf(value, scope);
    const isRead = read.some(({ variables }) => variables.length > 0);
    return [
      code`
        ${scope.trace(origin)}
        const ${server}: ${importedType(CHECK, "ConnectionAuthorizer")} = ${literal(settings)};
      `,
      code`
        function ${name(label)}(
          ${name(isRead ? "request" : "_request")}: ${importedType(CLIENT, "ConnectedClient")},
          context: ${importedType("gwc/runtime/net/connection-rules", "RuleContext")},
        ): Promise<${importedType(CLIENT, "ConnectionVerdict")}> {
          return ${imported(CHECK, "authorizeConnection")}(${server}, context, {
            ${members}
          });
        }
      `,
    ];
  });
}

/** The values of the server's request, and the expressions in them. */
interface Question {
  readonly members: readonly Hole[];
  readonly read: readonly CompiledExpression[];
}

function questionOf(
  { protocol, cache }: AuthorizerSettings,
  { expressions }: ConnectionScope,
): Question {
  const { path, body, addHeaders } =
    protocol.kind === "http" ? protocol : { path: undefined, body: undefined, addHeaders: [] };
  const { key = [], ttl } = cache ?? {};
  const lifetime = typeof ttl === "object" ? ttl : undefined;
  const headers = headerList(addHeaders, expressions);
  return {
    members: [
      ...(path === undefined ? [] : [valueMember("path", path, expressions)]),
      ...(body === undefined ? [] : [valueMember("body", body, expressions)]),
      ...(addHeaders.length === 0 ? [] : [code`headers: ${headers},`]),
      ...(key.length === 0 ? [] : [code`key: ${valueList(key, expressions)},`]),
      ...(lifetime === undefined
        ? []
        : [
            code`
              ${comment(lifetime.source)}
              lifetime: () => ${laidOut(expressions.use(lifetime.code), "operand")},
            `,
          ]),
    ],
    read: [
      path ?? [],
      body ?? [],
      addHeaders.map(({ value }) => value),
      key,
      lifetime ?? [],
    ].flat(),
  };
}
