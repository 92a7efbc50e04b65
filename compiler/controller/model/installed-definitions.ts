import { kinds, OUR_GROUPS } from "../../1-parse/kubernetes/kinds.ts";
import type { ResourceType } from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { fieldsNotInstalled, gatewayApiVersion } from "../kubernetes/definitions.ts";
import { definitionProblems, type KnownDefinitions } from "../status/class-status.ts";

/** Listeners for changes of definitions. */
export interface DefinitionListener {
  readonly changed: () => void;
  readonly warn: (message: string) => void;
}

/** Properties of the installed definitions besides the kinds that they serve: their release, and missing parts. */
export class InstalledDefinitions {
  readonly #api: ApiServer;
  readonly #listener: DefinitionListener;
  #known: KnownDefinitions = { gatewayApi: undefined, kindsMissing: [], fieldsMissing: [] };
  #isFirst = true;

  constructor(api: ApiServer, listener: DefinitionListener) {
    this.#api = api;
    this.#listener = listener;
  }

  get known(): KnownDefinitions {
    return this.#known;
  }

  /** Looks at the definitions of the kinds that are served now. */
  async look(served: readonly ResourceType[]): Promise<void> {
    const before = this.#known;
    // Kinds that cannot be asked for now stay as they were.
    const gatewayApi = await gatewayApiVersion(this.#api).catch(() => before.gatewayApi);
    // Definitions become no older than they are: once nothing is missing, nobody asks again.
    const isAsked = this.#isFirst || before.fieldsMissing.length > 0;
    const fieldsMissing = isAsked
      ? await fieldsNotInstalled(this.#api).catch(() => before.fieldsMissing)
      : [];
    this.#isFirst = false;
    this.#known = { gatewayApi, kindsMissing: kindsMissing(served), fieldsMissing };
    if (JSON.stringify(this.#known) === JSON.stringify(before)) return;
    this.#listener.changed();
    const old = definitionProblems(before);
    for (const problem of definitionProblems(this.#known))
      if (!old.includes(problem)) this.#listener.warn(problem);
  }
}

/** Kinds of the Gateway API and of gwc that are not served under any of their names. */
function kindsMissing(served: readonly ResourceType[]): readonly string[] {
  const names = served.map(({ group, kind }) => `${group} ${kind}`);
  return kinds
    .filter(({ groups }) => groups.some((group) => DEFINED.includes(group)))
    .filter((row) =>
      row.groups.every((group) => row.names.every((name) => !names.includes(`${group} ${name}`))),
    )
    .map(({ kind }) => kind);
}

/** Groups whose kinds somebody has to install, and without which gateways lack something. */
const DEFINED: readonly string[] = ["gateway.networking.k8s.io", ...OUR_GROUPS];
