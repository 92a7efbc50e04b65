import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { clientSecretCode } from "../backends/parts/connection.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { keySource } from "./jwt-auth.ts";
import { awaitedIdentitySteps } from "./parts/identity.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/oidc";
const COOKIES = "gwc/runtime/auth/oidc/browser-cookies";
const PROVIDER = "gwc/runtime/auth/oidc/provider";

/** `oidc`: the user is `jwt` from here on; clients without a login are sent to the provider or refused. */
export const oidcTemplate: PolicyTemplate<"oidc"> = {
  identity: "jwt",
  hasSessions: true,
  ownToken: ({ issuer, clientId, redirectUri }) =>
    code`${imported(COOKIES, "ownCookies")}(${literal({ issuer, clientId, redirectUri })})`,
  code: ({ settings, origin }, { trace }) => {
    const { provider, clientSecret, logout, ...rest } = settings;
    const value = {
      ...rest,
      clientSecret: clientSecretCode(clientSecret),
      provider: providerCode(settings.issuer, provider),
      logout: logout && { ...logout },
    };
    return {
      declarations: [
        code`
          ${trace(origin)}
          const oidc = ${imported(MODULE, "openOidc")}(${literal(value)});
        `,
      ],
      ...awaitedIdentitySteps("jwt", "strict", CHECKS, code`oidc`),
    };
  },
};

const requireLogin = imported(MODULE, "requireLogin");
/** Step that ends requests without a login. */
const CHECKS = { strict: requireLogin, optional: requireLogin, permissive: requireLogin };

type Settings = PolicySettings["oidc"];

function providerCode(issuer: Settings["issuer"], provider: Settings["provider"]): Code {
  if (provider.kind === "discovered") {
    const { url } = provider;
    const at =
      url === undefined
        ? code`${imported(PROVIDER, "discoveryUrl")}(${literal(issuer)})`
        : code`${literal(url)}`;
    return code`${imported(PROVIDER, "discoveredProvider")}(${literal(issuer)}, ${at})`;
  }
  const { keys, endpoints } = provider;
  const open = imported(PROVIDER, "configuredProvider");
  return code`${open}(${literal({ ...endpoints })}, ${keySource(keys)})`;
}
