import { code, literal } from "../code/code.ts";
import { imported, importedType } from "../code/names.ts";
import { milliseconds } from "../code/units.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/session-persistence";

/** `sessionPersistence`: chooses the server that the client's token names. */
export const sessionPersistenceTemplate: PolicyTemplate<"sessionPersistence"> = {
  hasSessions: true,
  ownToken: ({ kind, name }, route) =>
    code`${imported(MODULE, "ownToken")}(${literal({ kind, name, route })})`,
  code: ({ settings, origin }, { id, trace }) => {
    const { absoluteTimeout, idleTimeout, ...rest } = settings;
    const session = {
      ...rest,
      route: id,
      absoluteTimeout: absoluteTimeout && milliseconds(absoluteTimeout),
      idleTimeout: idleTimeout && milliseconds(idleTimeout),
    };
    return {
      declarations: [
        code`
          ${trace(origin)}
          const session: ${importedType(MODULE, "PersistenceSettings")} = ${literal(session)};
        `,
      ],
      steps: [],
      chooseServer: (servers) =>
        code`${imported(MODULE, "chooseInSession")}(exchange, ${servers}, session)`,
    };
  },
};
