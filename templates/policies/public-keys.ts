import { code, literal } from "../code/code.ts";
import { filePath, isText } from "../code/file-path.ts";
import { imported, importedType } from "../code/names.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/public-keys";

/** `publicKeys`: ends the route. */
export const publicKeysTemplate: PolicyTemplate<"publicKeys"> = {
  code: ({ settings: { keys }, origin }, { trace }) => {
    const opened = keys.map(({ key, keyId, algorithm }) => {
      const [load, from] = isText(key)
        ? [imported(MODULE, "publicKey"), literal(key)]
        : [imported(MODULE, "publicKeyFile"), filePath(key)];
      return code`${load}(${from}, ${literal({ keyId, algorithm })})`;
    });
    return {
      declarations: [
        code`
          ${trace(origin)}
          const publicKeys: ${importedType(MODULE, "PublicKeys")} = ${literal(opened)};
        `,
      ],
      steps: [code`return ${imported(MODULE, "respondWithKeys")}(exchange, publicKeys);`],
      responses: true,
    };
  },
};
