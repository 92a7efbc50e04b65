import type { SourceFile } from "../../compiler/diagnostics/source.ts";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import type { Difference } from "../../compiler/inspect/diff/difference.ts";
import type { Program } from "../../compiler/ir/program.ts";
import type { TrialRequest } from "../../runtime/trial/trial.ts";
import { editedGateway, type RandomGateway, randomGateway } from "./random-gateways.ts";
import type { RandomSource } from "./random-rules.ts";

/** A gateway before or after an edit. */
export interface GatewaySide {
  readonly gateway: RandomGateway;
  readonly program: Program;
  readonly files: readonly SourceFile[];
}

/** Keys that nobody signs with. */
const JWKS = JSON.stringify({
  keys: [
    {
      ...{ kty: "EC", crv: "P-256", kid: "one", alg: "ES256" },
      x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    },
  ],
});

/** A gateway before and after an edit; `undefined` if one of them has mistakes. */
export function editedPair(
  random: RandomSource,
): { readonly before: GatewaySide; readonly after: GatewaySide } | undefined {
  const gateway = randomGateway(random);
  const [before, after] = [gateway, editedGateway(gateway, random)].map(sideOf);
  return before === undefined || after === undefined ? undefined : { before, after };
}

function sideOf(gateway: RandomGateway): GatewaySide | undefined {
  const host = memoryHost({ "g.yaml": JSON.stringify(gateway), "jwks.json": JWKS });
  const { program, files } = checkInput(["g.yaml"], host, false);
  return program && { gateway, program, files };
}

/** Whether a difference reports a new route. */
export function opensRoute({ change }: Difference): boolean {
  return /^(404|nothing listened) -> served by /.test(change);
}

/** Whether a difference says that requests are served that were refused. */
export function opensAccess({ direction, change }: Difference): boolean {
  return direction === "opens" && change.endsWith("-> served");
}

/** Returns the example request of a difference, to one of the hosts; `undefined` if it has no example. */
export function requestOf(
  { example = "", subject }: Difference,
  host: string,
): TrialRequest | undefined {
  const [head = "", ...parts] = example.split("  ");
  const [, method, given, target] =
    /^([A-Z]+) (?:https?:)?(?:\/\/([^/:]+)(?::\d+)?)?(\/\S*)$/.exec(head) ?? [];
  const [, port] = /:(\d+)/.exec(head) ?? /:(\d+)/.exec(subject) ?? [];
  if (method === undefined || target === undefined || port === undefined) return undefined;
  const headers = parts
    .filter((part) => /^[\w-]+: /.test(part))
    .map((part) => part.split(/: (.*)/s));
  const [token] = parts.flatMap((part) => (part.startsWith("as {") ? [part.slice(3)] : []));
  const [address = "8.8.8.8"] = parts.flatMap((part) =>
    part.startsWith("from ") ? [part.slice(5)] : [],
  );
  return {
    ...{ port: Number(port), isTls: false, method, target, address },
    headers: { ...Object.fromEntries(headers), host: given ?? host },
    ...{ body: undefined, message: undefined, servers: {} },
    identities: token === undefined ? {} : { jwt: JSON.parse(token) },
    response: { status: 200, headers: {}, body: "" },
  };
}
