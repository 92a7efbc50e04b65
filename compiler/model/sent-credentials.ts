import type { SentPlace } from "../../runtime/auth/sent-credential.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { MountedFile, Text } from "./texts.ts";

/** A credential with its place in requests to a backend. */
export interface SentCredentialNode {
  readonly value: Text | MountedFile;
  readonly place: SentPlace;
}

/** A credential with its place in requests to a backend, as configured. */
export interface SentCredentialConfig extends SentCredentialNode {
  /** Location of the value. */
  readonly valueOrigin: Origin;
}
