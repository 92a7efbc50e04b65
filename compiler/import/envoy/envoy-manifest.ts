import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import type { SourceFields } from "../source-fields.ts";

/** A manifest with its place. */
export interface EnvoyManifest {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly spec: DraftFields;
  readonly at: ConfigPath;
  readonly source: SourceFields;
}
