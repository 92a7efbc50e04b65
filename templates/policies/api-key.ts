import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, literal } from "../code/code.ts";
import type { Code, Printable } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { locationCode } from "./parts/credential-location.ts";
import { identitySteps } from "./parts/identity.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/api-key";

/** `apiKey`: checks the key; its metadata is `apiKey` from here on. */
export const apiKeyTemplate: PolicyTemplate<"apiKey"> = {
  identity: "apiKey",
  detail: ({ mode }) => mode,
  code: ({ settings, origin }, scope) => {
    const { mode, keys } = settings;
    const location = locationCode(settings.location, "findApiKey", scope);
    const value = { location: location.value, keys: keys.map(keyCode) };
    return {
      declarations: [
        ...location.declarations,
        code`
          ${scope.trace(origin)}
          const apiKeys = ${imported(MODULE, "openApiKeys")}(${literal(value)});
        `,
      ],
      ...identitySteps("apiKey", mode, CHECKS, code`apiKeys`),
      readsRequestBody: location.readsRequestBody,
    };
  },
};

const CHECKS = {
  strict: imported(MODULE, "requireApiKey"),
  optional: imported(MODULE, "acceptApiKey"),
  permissive: imported(MODULE, "observeApiKey"),
};

function keyCode(source: PolicySettings["apiKey"]["keys"][number]): Code {
  // What was configured is JSON.
  const metadata = literal(source.metadata as Printable);
  switch (source.kind) {
    case "key":
      return code`${imported(MODULE, "plaintextKey")}(${literal(source.key)}, ${metadata})`;
    case "hash":
      return code`${imported(MODULE, "sha256Key")}(${literal(source.sha256)}, ${metadata})`;
    case "file": {
      const open = source.isSecret === true ? "secretFile" : "file";
      const path = code`${imported("gwc/runtime/process/startup-values", open)}(${literal(source.file)})`;
      return code`${imported(MODULE, "keyFile")}(${path}, ${metadata})`;
    }
  }
}
