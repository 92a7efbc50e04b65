import { readFileSync } from "node:fs";
import type { Workspace } from "./workspace.ts";

/** A request as an API server remembers it, and what came of it. */
export interface AuditedCall {
  readonly verb: string;
  readonly group: string;
  /** With the part that was asked for: `httproutes/status`. */
  readonly resource: string;
  readonly name: string;
  readonly status: number;
}

/** Requests of the accounts of pods are written down, without what they say. */
const POLICY = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata", userGroups: ["system:serviceaccounts"] }, { level: "None" }],
});

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code: number };
}

/** The requests that accounts of pods sent to an API server. */
export class AuditLog {
  readonly #file: string;
  readonly #policy: string;

  constructor(workspace: Workspace) {
    this.#policy = workspace.write("audit-policy.json", POLICY);
    this.#file = workspace.write("audit.log", "");
  }

  /** Flags for starting the API server. */
  get options(): readonly string[] {
    return ["--audit-policy-file", this.#policy, "--audit-log-path", this.#file];
  }

  /** Returns the requests of an account (`NAMESPACE:NAME`) for objects so far. */
  callsOf(account: string): readonly AuditedCall[] {
    // The last line may be on its way.
    const lines = readFileSync(this.#file, "utf8").split("\n").slice(0, -1);
    const events = lines.map((line): AuditEvent => JSON.parse(line));
    return events.flatMap(({ verb, user, objectRef, responseStatus }) => {
      if (user.username !== `system:serviceaccount:${account}` || objectRef === undefined)
        return [];
      const { apiGroup = "", resource, subresource, name = "" } = objectRef;
      const part = subresource === undefined ? "" : `/${subresource}`;
      const status = responseStatus?.code ?? 0;
      return [{ verb, group: apiGroup, resource: `${resource}${part}`, name, status }];
    });
  }
}
