import { clientSecretCode } from "../backends/parts/connection.ts";
import { code, join, literal } from "../code/code.ts";
import { imported, importedType, name } from "../code/names.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/user-connections";

/** `userConnections`: the servers, the step for documents about clients, and the page. */
export const userConnectionsTemplate: PolicyTemplate<"userConnections"> = {
  hasSessions: true,
  ownToken: ({ url, owner }) => {
    const args = [url, ...(owner === undefined ? [] : [owner])].map((each) => literal(each));
    const cookies = code`${imported(MODULE, "connectionCookies")}(${join(args, ", ")})`;
    return code`${imported("gwc/runtime/auth/oidc/browser-cookies", "ownCookies")}(${cookies})`;
  },
  code: ({ settings: { url, userClaim, owner, servers }, origin }, { trace, variables }) => {
    const settings = {
      url,
      userClaim,
      owner,
      servers: servers.map((each) => ({
        name: each.name,
        resource: each.resource,
        issuer: each.issuer,
        client:
          each.clientId === undefined
            ? undefined
            : {
                clientId: each.clientId,
                clientSecret: each.clientSecret && clientSecretCode(each.clientSecret),
              },
        scopes: each.scopes && [...each.scopes],
      })),
    };
    const call = (symbol: string) => imported(MODULE, symbol);
    return {
      declarations: [
        code`
          ${trace(origin)}
          const connections: ${importedType(MODULE, "UserConnections")} = ${literal(settings)};
        `,
      ],
      first: [code`if (${call("serveClientDocument")}(exchange, ${name("connections")})) return;`],
      steps: [
        code`return ${call("serveConnections")}(exchange, ${variables.argument("jwt")}, ${name("connections")});`,
      ],
      isAsync: true,
      responses: true,
    };
  },
};
