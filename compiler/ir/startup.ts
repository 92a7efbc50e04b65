import type { Origin } from "../diagnostics/diagnostic.ts";
import type { MountedFile } from "../model/texts.ts";

/** A variable or a file that the gateway reads when it starts. */
export type StartupNode = (
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "file"; readonly file: MountedFile }
) & {
  /** Of the nearest thing around it that has a place. */
  readonly origin: Origin;
};
