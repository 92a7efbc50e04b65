import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { locationCode } from "./parts/credential-location.ts";
import { awaitedIdentitySteps } from "./parts/identity.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/basic-auth";

/** `basicAuth`: checks the login; the user is `basicAuth` from here on. */
export const basicAuthTemplate: PolicyTemplate<"basicAuth"> = {
  identity: "basicAuth",
  detail: ({ mode }) => mode,
  code: ({ settings, origin }, scope) => {
    const { mode, realm, passwords } = settings;
    const location = locationCode(settings.location, "findLogin", scope);
    const value = { realm, location: location.value, passwords: source(passwords) };
    return {
      declarations: [
        ...location.declarations,
        code`
          ${scope.trace(origin)}
          const passwords = ${imported(MODULE, "openBasicAuth")}(${literal(value)});
        `,
      ],
      ...awaitedIdentitySteps("basicAuth", mode, CHECKS, code`passwords`),
      readsRequestBody: location.readsRequestBody,
    };
  },
};

const CHECKS = {
  strict: imported(MODULE, "requireBasicAuth"),
  optional: imported(MODULE, "acceptBasicAuth"),
  permissive: imported(MODULE, "observeBasicAuth"),
};

function source(passwords: PolicySettings["basicAuth"]["passwords"]): Code {
  if (passwords.kind === "text") {
    return code`${imported(MODULE, "htpasswd")}(${literal(passwords.text)})`;
  }
  const path = imported(
    "gwc/runtime/process/startup-values",
    passwords.isSecret === true ? "secretFile" : "file",
  );
  return code`${imported(MODULE, "htpasswdFile")}(${path}(${literal(passwords.file)}))`;
}
